#pragma once

namespace bic::cpu {

/// Constants of exp and of the normal distribution function, printed by coefficients.py: there
/// is the formula of each. kTanh1 = 2 sqrt(2 / pi), kTanh3 = 0.044715 kTanh1; Lo is
/// what rounding lost.
template <class T>
struct Coefficients;

template <>
struct Coefficients<float> {
  static constexpr float kExp[] = {0x1.0000000000000p-1f,
                                   0x1.5554de0000000p-3f,
                                   0x1.55551a0000000p-5f,
                                   0x1.120b620000000p-7f,
                                   0x1.6d10fc0000000p-10f};
  static constexpr float kPhi[] = {0x1.754a760000000p-1f,
                                   -0x1.04c72a0000000p-1f,
                                   0x1.d713820000000p-3f,
                                   -0x1.832d420000000p-5f,
                                   -0x1.56d4380000000p-7f,
                                   0x1.c8ca900000000p-8f,
                                   0x1.0c83420000000p-10f,
                                   -0x1.0f430e0000000p-10f,
                                   -0x1.00e72c0000000p-12f,
                                   0x1.17ed500000000p-13f,
                                   0x1.d2d5400000000p-15f};
  static constexpr float kLog2E = 0x1.7154760000000p+0f;
  static constexpr float kLn2Hi = 0x1.62e4000000000p-1f;
  static constexpr float kLn2Lo = 0x1.7f7d1c0000000p-20f;
  static constexpr float kPhiShift = 0x1.8000000000000p+1f;
  static constexpr float kPhiMax = 0x1.0000000000000p+4f;
  static constexpr float kTanh1 = 0x1.9884540000000p+0f;
  static constexpr float kTanh1Lo = -0x1.8579360000000p-25f;
  static constexpr float kTanh3 = 0x1.2444f20000000p-4f;
  static constexpr float kTanh3Lo = 0x1.49b16a0000000p-29f;
};

template <>
struct Coefficients<double> {
  static constexpr double kExp[] = {0x1.0000000000001p-1,
                                    0x1.5555555555556p-3,
                                    0x1.5555555553d68p-5,
                                    0x1.11111111109b5p-7,
                                    0x1.6c16c17889ef1p-10,
                                    0x1.a01a01a7c2efep-13,
                                    0x1.a019b9149a41cp-16,
                                    0x1.71de0db2f6b19p-19,
                                    0x1.28917c89a43a7p-22,
                                    0x1.af389ecfc4b9cp-26};
  static constexpr double kPhi[] = {
      0x1.754a751a56f4ap-1,   -0x1.04c7295a48f32p-1,  0x1.d71387c654cefp-3,
      -0x1.832dbf6992d8cp-5,  -0x1.56d8e3d803293p-7,  0x1.c8f52c32b6632p-8,
      0x1.0d608c97d9a94p-10,  -0x1.12285f19c902dp-10, -0x1.0d09ebf152715p-12,
      0x1.43c9f08e8f5e8p-13,  0x1.4a90855e4c257p-14,  -0x1.bc79926b56a40p-17,
      -0x1.5b1cb1714a229p-16, -0x1.d805e91d8d44ap-19, 0x1.e8c37fa8be657p-19,
      0x1.2eb655d714f2cp-19,  0x1.fc785f8f7aa2fp-29,  -0x1.3e31eae5a6e9cp-21,
      -0x1.1d521e9439d81p-22, 0x1.7614565d80bb6p-25,  0x1.7748367ca76d9p-24,
      0x1.9243422ff3b3bp-26,  -0x1.331f41c162ba4p-27, -0x1.b2a865e79c726p-28,
      -0x1.16d6c3829645bp-30};
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLn2Hi = 0x1.62e42fee00000p-1;
  static constexpr double kLn2Lo = 0x1.a39ef35793c76p-33;
  static constexpr double kPhiShift = 0x1.8000000000000p+1;
  static constexpr double kPhiMax = 0x1.4000000000000p+5;
  static constexpr double kTanh1 = 0x1.9884533d43651p+0;
  static constexpr double kTanh1Lo = -0x1.cbc0d30ebfd15p-54;
  static constexpr double kTanh3 = 0x1.2444f2a4d8b4bp-4;
  static constexpr double kTanh3Lo = -0x1.6c843a29d1c70p-61;
};

}  // namespace bic::cpu
