#!/usr/bin/env python3
"""The LibTorch worker of an installation, and the ways to give it its torch."""
import unittest

from installed import BUILD, InstalledTest

TORCH = (BUILD / "lib/torch").resolve()


class Torch(InstalledTest):
    def test_beside_the_worker(self):
        beside = self.prefix / "lib/torch"
        beside.symlink_to(TORCH)
        self.addCleanup(beside.unlink)
        self.assert_conforms("libtorch-invariant")

    def test_named_by_a_variable(self):
        self.assert_conforms("libtorch-invariant", BIC_TORCH=str(TORCH))

    def test_in_a_folder_of_the_loader(self):
        self.assert_conforms("libtorch-invariant", LD_LIBRARY_PATH=str(TORCH / "lib"))

    def test_is_not_needed_by_other_verbs(self):
        for arguments in (["list"], ["explain", "alone"], ["support", "--backend", "libtorch"]):
            code = self.run_it(*arguments).returncode
            self.assertEqual(code, 2 if "support" in arguments else 0, arguments)


if __name__ == "__main__":
    unittest.main()
