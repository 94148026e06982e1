#pragma once

#include <optional>
#include <string>

#include "results_schema/signing/certificate.h"

namespace bic::signing {

/// What a certificate says in a few words: "BI-3 on 47 of 47 ops, until 2027-03-01" or, of one of
/// its profiles, "BI-2 attention bf16, until 2027-03-01"; "expired 2027-03-01" when it has by
/// `now`.
std::string badge_words(const Certificate& certificate,
                        const std::optional<ProfileLevel>& of,
                        Seconds now);

/// The same as a picture: SVG without scripts, fonts or links, in the level's colour, grey when it
/// has expired. Its title says the words, its description what was judged how, and by whom.
std::string badge(const Certificate& certificate,
                  const std::optional<ProfileLevel>& of,
                  Seconds now);

}  // namespace bic::signing
