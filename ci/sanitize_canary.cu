// What each tool of compute-sanitizer must find, in a kernel that is named as the bundled ones are
// (ci/sanitize): a race, a read of what nobody wrote, a barrier that half of a warp passes by, and
// a write beyond the end.
namespace bic::cuda {

__global__ void canary(float* written, const float* never_written) {
  __shared__ float one;
  one = static_cast<float>(threadIdx.x);
  if (threadIdx.x % 2 == 0) __syncthreads();
  written[threadIdx.x + 1] = one + never_written[threadIdx.x];
}

}  // namespace bic::cuda

int main() {
  constexpr int kThreads = 64;
  float *written = nullptr, *never_written = nullptr;
  cudaMalloc(&written, kThreads * sizeof(float));
  cudaMalloc(&never_written, kThreads * sizeof(float));
  bic::cuda::canary<<<1, kThreads>>>(written, never_written);
  cudaDeviceSynchronize();
}
