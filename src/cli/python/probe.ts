/** What an interpreter is and has, asked of itself; nothing of the environment is imported for it. */
import { spawn } from "node:child_process";
import { systemCode } from "../terminal/cli-error.ts";

export interface Probed {
  /** The interpreter itself, where `uv` or a link was asked. */
  readonly executable: string;
  readonly version: readonly [number, number, number];
  /** Version of the library; null = it is not installed. */
  readonly verifiers: string | null;
  /** File of the module that was asked for, with `load_environment` in it; null = there is none. */
  readonly module: string | null;
  /** Of the packages that were asked for. */
  readonly missing: readonly string[];
  /** Of the installed distributions; null = the module belongs to none. */
  readonly moduleVersion: string | null;
}

export interface Asked {
  readonly module: string;
  readonly packages: readonly string[];
}

/** Reads no site of the working folder, as an installed program does not. */
const SCRIPT = `
import json, sys
from importlib import metadata, util
sys.path[:] = [path for path in sys.path if path != ""]
asked = json.loads(sys.argv[1])
def version(name):
    try:
        return metadata.version(name)
    except Exception:
        return None
def module(name):
    try:
        spec = util.find_spec(name)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return None
        with open(spec.origin, encoding="utf-8") as file:
            return spec.origin if "load_environment" in file.read() else None
    except Exception:
        return None
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "verifiers": version("verifiers"),
    "module": module(asked["module"]),
    "moduleVersion": version(asked["module"]),
    "missing": [name for name in asked["packages"] if version(name) is None],
}))
`;

/** A start of Python from a cold disk. */
const PATIENCE_MS = 30_000;
const MOST_SAID = 8 * 1024;

export type Answer = { readonly ok: true; readonly probed: Probed } | { readonly ok: false; readonly absent: boolean; readonly said: string };

/** Asks `command` (a program and what goes before Python's own arguments). `absent`: there is no such program. */
export async function probe(command: readonly string[], asked: Asked, env: Readonly<Record<string, string>>, patienceMs = PATIENCE_MS): Promise<Answer> {
  const [program = "", ...before] = command;
  return await new Promise<Answer>((resolve) => {
    const child = spawn(program, [...before, "-c", SCRIPT, JSON.stringify(asked)], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: patienceMs,
      killSignal: "SIGKILL",
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out = (out + text).slice(-MOST_SAID);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err = (err + text).slice(-MOST_SAID);
    });
    child.once("error", (error) => resolve({ ok: false, absent: systemCode(error) === "ENOENT", said: error.message }));
    child.once("close", (code, signal) => {
      const probed = code === 0 ? readAnswer(out) : null;
      if (probed !== null) resolve({ ok: true, probed });
      else resolve({ ok: false, absent: false, said: err.trim() || (signal === null ? `exit code ${code}` : `no answer within ${patienceMs / 1000} s`) });
    });
  });
}

function readAnswer(out: string): Probed | null {
  try {
    // Whatever a start-up file of the site prints comes before.
    return JSON.parse(out.trimEnd().split("\n").at(-1) ?? "") as Probed;
  } catch {
    return null;
  }
}
