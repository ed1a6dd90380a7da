"""Makes the fixtures of test/fixtures/imports from logs that the programs themselves wrote.

Each program is run against the scripted model server (node test/support/model-server/model-server-cli.ts --port 8765 --accuracy 0.6), below FROM:

  inspect       inspect eval inspect_tasks.py@TASK --model openai/scripted-model -M responses_api=false --log-dir inspect [--log-format json]
  lm-eval       lm_eval run --model local-chat-completions --model_args model=scripted-model,base_url=URL/chat/completions
                --include_path lm-eval --apply_chat_template --log_samples --tasks TASK --output_path lm-eval
                (multiple choice: --model dummy)
  promptfoo     promptfoo eval -c promptfoo/NAME.yaml -o promptfoo/NAME.json [--repeat 3]
  openai-evals  oaieval gpt-3.5-turbo NAME --registry_path openai-evals --record_path openai-evals/NAME.jsonl

  python kept.py FROM TO      (needs zipfile-zstd, which Inspect brings)

What is taken out: events of Inspect's samples, which make up most of a log and are not imported; paths and HTTP headers. One archive is packed again
with deflate, as Inspect wrote them before it had Zstandard.
"""

import json
import pathlib
import re
import sys
import zipfile

import zipfile_zstd  # noqa: F401

LEFT_OUT = {"events": [], "events_data": None, "http": None}
PATH = re.compile(r"/(?:venvs|tmp|root|home|work)/[^\s\"']*")


def cleaned(value):
    if isinstance(value, dict):
        return {key: LEFT_OUT[key] if key in LEFT_OUT else cleaned(item) for key, item in value.items() if key not in ("traceback", "traceback_ansi", "platform", "arch")}
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return PATH.sub("path", value) if isinstance(value, str) else value


def archive(source, target, method):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", method) as new:
        for entry in old.infolist():
            info = zipfile.ZipInfo(entry.filename)
            info.compress_type = method
            new.writestr(info, json.dumps(cleaned(json.loads(old.read(entry)))))


start, to = (pathlib.Path(each) for each in sys.argv[1:3])
for source in sorted(path for path in start.rglob("*") if path.is_file()):
    folder = to / source.relative_to(start).parts[0]
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"^\S+_([a-z-]+)_\w+(\.eval|\.json)$", r"\1\2", source.name) if folder.name == "inspect" else source.name
    if source.suffix == ".eval":
        archive(source, folder / name, zipfile.ZIP_DEFLATED if "counted" in name else 93)
    elif source.suffix == ".jsonl":
        lines = [json.dumps(cleaned(json.loads(line))) for line in source.read_text().splitlines()]
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    else:
        (folder / name).write_text(json.dumps(cleaned(json.loads(source.read_text())), indent=2 if source.name.startswith("results_") else None))
