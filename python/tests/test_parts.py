"""Parts that need no process and no library."""

from __future__ import annotations

import asyncio
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any, Literal, Optional

from edgewise_env.arguments import check_arguments, schema_of
from edgewise_env.failures import Failure
from edgewise_env.library import check_release, release_of
from edgewise_env.loading import find_environment
from edgewise_env.outbox import ROUNDS, Outbox
from edgewise_env.plain import NotPlain, plain, same_crossed
from edgewise_env.calls.relay import Caller, Relays

from .engine import crossed


class Arguments(unittest.TestCase):
    def test_annotations_become_schemas(self):
        for annotation, schema in (
            (int, {"type": "integer"}),
            (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),
            (list[float], {"type": "array", "items": {"type": "number"}}),
            (Literal["a", "b"], {"enum": ["a", "b"]}),
            (dict[str, int], {"type": "object"}),
            (Any, {}),
            (Path, {}),
        ):
            self.assertEqual(schema_of(annotation), schema)

    def test_what_is_unknown_or_missing_is_named(self):
        def load(needed: str, more: int = 1): ...

        def takes_all(**options): ...

        check_arguments(takes_all, {"anything": 1})
        with self.assertRaisesRegex(Failure, r"env_args.other: load_environment has no such argument \(allowed: needed, more\)"):
            check_arguments(load, {"needed": "", "other": 1})
        with self.assertRaisesRegex(Failure, "env_args.needed: load_environment needs this argument"):
            check_arguments(load, {})


class Releases(unittest.TestCase):
    def test_those_that_are_served_are_told_from_others(self):
        self.assertEqual(release_of("0.1.14.dev2"), (0, 1, 14))
        for version in ("0.1.10", "0.1.14", "0.2.1", "0.3.1", "0.3.2.dev1"):
            check_release(version)
        for version in ("0.1.9.post3", "0.4.0", "1.0"):
            with self.assertRaises(Failure) as refused:
                check_release(version)
            self.assertIn(version, refused.exception.message)
            self.assertIn("pip install 'verifiers==0.1.14'", refused.exception.hint or "")


class Finding(unittest.TestCase):
    def folder(self, files: dict[str, str]) -> Path:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        for name, text in files.items():
            path = Path(made.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Path(made.name)

    def test_a_folder_is_known_by_its_project(self):
        pyproject = '[project]\nname = "found-by-project"\nversion = "1.2"\n[tool.verifiers.eval]\nnum_examples = 7\n'
        folder = self.folder({"env/pyproject.toml": pyproject, "env/found_by_project.py": "def load_environment(): ..."})
        found = find_environment(str(folder / "env"), "nowhere")
        self.assertEqual((found.id, found.version, found.load_as), ("found-by-project", "1.2", "found-by-project"))

    def test_a_module_of_another_name_is_found_by_its_function(self):
        folder = self.folder({"env/pyproject.toml": '[project]\nname = "some-env"\n', "env/other_module.py": "def load_environment(): ..."})
        found = find_environment(str(folder / "env"), "nowhere")
        self.assertEqual((found.id, found.load_as), ("some-env", "other_module"))

    def test_a_name_is_a_folder_of_the_environments_before_it_is_a_module(self):
        folder = self.folder({"own_json/own_json.py": "def load_environment(): ..."})
        self.assertEqual(find_environment("team/own-json", str(folder)).id, "team/own-json")

    def test_what_it_needs_and_lacks_is_named_with_the_command(self):
        folder = self.folder({"needs_more.py": "import a_module_that_is_not_there\ndef load_environment(): ..."})
        with self.assertRaises(Failure) as refused:
            find_environment(str(folder / "needs_more.py"), "nowhere")
        self.assertIn("-m pip install a-module-that-is-not-there", refused.exception.hint or "")


class Values(unittest.TestCase):
    def test_what_comes_back_from_doubles_is_known_again(self):
        value = {"share": 1.0, "large": 2**60 + 1, "list": [1, 2.5, None, True], "text": "x"}
        self.assertTrue(same_crossed(plain(value, "row"), json.loads(json.dumps(crossed(value)))))
        for other in ({**value, "share": 2}, {**value, "list": [1, 2.5, None, 1]}, {**value, "large": 2**61}, {"share": 1.0}):
            self.assertFalse(same_crossed(value, crossed(other)))

    def test_what_is_no_json_is_named_by_its_path(self):
        for value, words in (({"a": [b"x"]}, "row.a[0] is a bytes"), ({"a": float("nan")}, "row.a is nan"), ({1: 2}, "a key of row is a int")):
            with self.assertRaises(NotPlain) as problem:
                plain(value, "row")
            self.assertEqual(str(problem.exception), words)


async def turns() -> None:
    """Lets the loop have more turns than a batch waits for; a time would be over too early on a machine with much to do."""
    for _ in range(10 * ROUNDS):
        await asyncio.sleep(0)


class Time:
    def asks(self) -> None: ...

    def permitted(self) -> None: ...


class Messages(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.batches: list[list[dict[str, Any]]] = []

    def outbox(self) -> Outbox:
        return Outbox(asyncio.get_running_loop(), lambda batch: self.batches.append(json.loads(batch)))

    async def test_of_one_moment_go_in_one_batch_and_in_order(self):
        outbox = self.outbox()

        async def say(number: int) -> None:
            await asyncio.sleep(0)
            outbox.put({"number": number})

        await asyncio.gather(*(say(number) for number in range(50)))
        await turns()
        self.assertEqual([[each["number"] for each in batch] for batch in self.batches], [list(range(50))])

    async def test_calls_beyond_sixty_four_of_a_rollout_wait(self):
        relays = Relays(asyncio.get_running_loop(), self.outbox())
        caller = Caller(relays, 1, "m", Time())
        asking = [asyncio.create_task(caller.relay("chat/completions", "{}")) for _ in range(70)]
        await turns()
        calls = [message["call"] for batch in self.batches for message in batch]
        self.assertEqual(calls, list(range(1, 65)))
        for call in range(1, 71):
            relays.answered({"call": call, "reply": {"status": 200, "content_type": "application/json", "text": "{}"}})
            await asyncio.sleep(0)
        await turns()
        for call in range(65, 71):
            relays.answered({"call": call, "reply": {"status": 200, "content_type": "application/json", "text": "{}"}})
        self.assertEqual(len(await asyncio.wait_for(asyncio.gather(*asking), 5)), 70)

    async def test_a_request_that_no_message_holds_is_refused_here(self):
        relays = Relays(asyncio.get_running_loop(), self.outbox())
        reply = await Caller(relays, 1, "m", Time()).relay("chat/completions", json.dumps({"text": "x" * (12 * 1024 * 1024)}))
        self.assertEqual((reply.status, reply.ok, self.batches), (400, False, []))


if __name__ == "__main__":
    unittest.main()
