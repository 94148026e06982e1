#include "harness/cli/glossary.h"

namespace bic {

std::vector<std::pair<std::string, std::string>> glossary() {
  return {
      {"pass", "bytes equal, accuracy held, and the inputs could have shown a difference"},
      {"fail", "red: the case's reasons say how it broke its relation or the accuracy bound"},
      {"unstable", "red: identical runs gave different bits"},
      {"refused", "red: the backend declined what its manifest claims"},
      {"crash", "red: the worker died or the call threw in this case"},
      {"timeout", "red: no answer within --timeout"},
      {"blocked", "red: a trial that this case is compared with did not run to its end"},
      {"unexpected_pass", "red: a waiver matched and no case of it failed in a complete run"},
      {"vacuous", "amber: agreement that proves nothing; its reason says why"},
      {"waived", "failed as its waiver says, and the waiver has not expired"},
      {"unsupported", "outside the backend's manifest"},
      {"skipped",
       "ran and agreed, but what the relation varies could not matter; its reason says why"},
      {"error", "the harness failed: exit code 4"},
      {"bits", "a sample's bytes differ between two trials that must agree"},
      {"nan_bits", "both are NaN, with different payloads or signs"},
      {"accuracy", "further from the oracle than the declared arithmetic allows"},
      {"shape", "the output has another shape than the op"},
      {"dtype", "the output has another dtype than the op"},
      {"nan_leak", "NaN where the oracle is a number"},
      {"out_of_bounds", "memory beside a tensor was overwritten"},
      {"stale_output", "elements of the output were never written"},
      {"input_changed", "an input that the call does not own was overwritten"},
      {"not_called", "the backend claims own kernels, and none of them ran"},
      {"controls", "honest sums in other orders gave the same bits, so equality shows nothing"},
      {"non_finite", "more than a tenth of the outputs is NaN or Inf"},
      {"witness", "the trial was not run as planned: layout, form, threads or process"},
      {"signal", "the worker was killed by a signal"},
      {"exception", "the call threw, or the worker ended by itself"},
      {"out_of_memory", "the worker held more than --memory, or the system had no more for it"},
      {"no_parallel_region", "the op opened no parallel region, so threads cannot matter here"},
      {"filtered", "left out by a filter"},
      {"budget", "left out because the run was cut"},
      {"shard", "belongs to another shard"},
      {"none", "holds no level"},
      {"BI-0", "repeatable: the same trial gives the same bits, in another process too"},
      {"BI-1", "BI-0, and a sample's bits do not depend on batch size or position"},
      {"BI-2", "BI-1, and not on neighbours, order, layout or the form of the call"},
      {"BI-3",
       "BI-2, and not on threads, nor on zeros appended to a contracted axis, nor on where a "
       "causal axis "
       "is cut"},
      {"BI-4", "BI-3, and not on the instruction set or topology, where that is declared"},
  };
}

std::vector<std::pair<std::string, std::string>> law_rows() {
  return {
      {"normal", "bell-shaped values of scale 1: what most tests draw, and what hides most"},
      {"uniform", "between -1 and 1"},
      {"cancel",
       "pairs of large terms that cancel and small ones that are left: any reordering shows"},
      {"edge", "a sum of positive terms trimmed so that one output lies at a rounding boundary"},
      {"wide", "exponents far apart"},
      {"outlier", "a few huge channels, as in real activations"},
      {"linspace", "-100 to 100 in equal steps: the public one-line reproduction"},
      {"ones", "all ones: counts the terms"},
      {"integers", "small integers: sums are exact, so any error is a wrong term"},
      {"ramp", "exact sums of values with more than 11 significant bits: shows rounded inputs"},
      {"masks", "ones, one huge and one minus huge: shows the tree of a sum"},
      {"sweep", "all inputs of a 16-bit type"},
      {"special", "NaN, Inf, -0 and denormals among numbers"},
      {"nan", "all NaN"},
      {"inf", "plus and minus Inf"},
      {"denormal", "subnormal numbers"},
      {"huge", "numbers next to the largest"},
  };
}

}  // namespace bic
