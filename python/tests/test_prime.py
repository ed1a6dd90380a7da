"""Prime's command line asks for the plugin as it asks verifiers for it, and finds ours where that was installed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from edgewise_env.prime.plugin import PRIME_PLUGIN_API_VERSION, PrimeCLIPlugin, get_plugin

from .engine import PACKAGE

# What prime 0.7.7 does with a plugin (prime_cli/verifiers_plugin.py).
AS_PRIME_ASKS = """
import importlib, json
plugin = importlib.import_module("verifiers.cli.plugins.prime").get_plugin()
print(json.dumps([plugin.api_version, plugin.eval_module, plugin.init_module, plugin.build_module_command(plugin.eval_module, ["gsm8k", "-n", "3"])]))
"""


class PrimePlugin(unittest.TestCase):
    def test_is_what_the_contract_says(self):
        plugin = get_plugin()
        self.assertIsInstance(plugin, PrimeCLIPlugin)
        self.assertEqual((plugin.api_version, PRIME_PLUGIN_API_VERSION), (1, 1))
        self.assertEqual(plugin.build_module_command("some.module", ["--flag"])[1:], ["-m", "some.module", "--flag"])
        self.assertEqual(plugin.build_module_command("some.module")[1:], ["-m", "some.module"])

    def test_is_found_under_the_name_that_prime_asks_for(self):
        hook = "import edgewise_env.prime.hook; edgewise_env.prime.hook.answer()\n"
        for isolated in ([], ["-S"]):
            with self.subTest("without site-packages, and so without verifiers" if isolated else "beside verifiers"):
                env = {**os.environ, "PYTHONPATH": str(PACKAGE), "VIRTUAL_ENV": ""}
                out = subprocess.run([sys.executable, *isolated, "-c", hook + AS_PRIME_ASKS], capture_output=True, text=True, env=env, timeout=60)
                self.assertEqual(out.returncode, 0, out.stderr)
                version, module, other, command = json.loads(out.stdout)
                self.assertEqual((version, module, other), (1, "edgewise_env.prime.eval", "verifiers.cli.commands.init"))
                self.assertEqual(command[1:], ["-m", "edgewise_env.prime.eval", "gsm8k", "-n", "3"])

    def test_its_evaluations_are_the_command_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder) / "edgewise"
            own.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
            own.chmod(own.stat().st_mode | stat.S_IEXEC)
            run = [sys.executable, "-m", "edgewise_env.prime.eval", "gsm8k", "-a", '{"a": "b c"}']
            env = {**os.environ, "PYTHONPATH": str(PACKAGE), "PATH": f"{folder}:/bin:/usr/bin"}
            self.assertEqual(subprocess.run(run, capture_output=True, text=True, env=env, timeout=60).stdout, 'eval|run|gsm8k|-a|{"a": "b c"}|')
            nothing = subprocess.run(run, capture_output=True, text=True, env={**env, "PATH": "/nowhere"}, timeout=60)
            self.assertEqual(nothing.returncode, 127)
            self.assertIn("npm install --global edgewise", nothing.stderr)


if __name__ == "__main__":
    unittest.main()
