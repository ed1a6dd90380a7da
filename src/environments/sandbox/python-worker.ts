import { base64, quoted } from "./shell-words.ts";

/**
 * The Python process of a `PythonEnv`: reads requests `{"id", "code"}` from one pipe, one JSON object per line, runs them in one
 * namespace, and puts each answer `{"stdout", "stderr", "error", "result", "count"}` into a file of its own.
 */
const WORKER = `
import ast, contextlib, io, json, os, sys, traceback
folder = sys.argv[1]
namespace = {"__name__": "__main__"}
count = 0
with open(os.path.join(folder, "pid"), "w") as file:
    file.write(str(os.getpid()))
open(os.path.join(folder, "ready"), "w").close()
while True:
    with open(os.path.join(folder, "requests")) as pipe:
        for line in pipe:
            request = json.loads(line)
            count += 1
            stdout, stderr = io.StringIO(), io.StringIO()
            error, result = None, None
            with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
                try:
                    tree = ast.parse(request["code"], "<cell>", "exec")
                    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
                    exec(compile(tree, "<cell>", "exec"), namespace)
                    if last is not None:
                        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
                        result = None if value is None else repr(value)
                except BaseException:
                    error = traceback.format_exc()
            answer = {"stdout": stdout.getvalue(), "stderr": stderr.getvalue(), "error": error, "result": result, "count": count}
            path = os.path.join(folder, request["id"])
            with open(path + ".part", "w") as file:
                json.dump(answer, file)
            os.replace(path + ".part", path)
`;

export interface PythonAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly error: string | null;
  readonly result: string | null;
  /** Cells run so far. */
  readonly count: number;
}

/** Installs the packages (a blank list: none) and starts the worker in `folder`; ends at once, the worker goes on. */
export const startWorker = (folder: string, packages: string): string =>
  [
    `mkdir -p ${quoted(folder)}`,
    `cd ${quoted(folder)}`,
    `rm -f ready requests pid`,
    `mkfifo requests`,
    `printf %s ${base64(WORKER)} | base64 -d > worker.py`,
    ...(packages.trim() === "" ? [] : [`pip install -q ${packages}`]),
    `{ nohup python3 -u worker.py "$PWD" > worker.log 2>&1 < /dev/null & }`,
  ].join(" && ");

/** Waits until the worker listens; status 1 when it does not within `seconds`. */
export const awaitWorker = (folder: string, seconds: number): string =>
  `cd ${quoted(folder)} && i=0; while [ ! -e ready ] && [ $i -lt ${Math.ceil(seconds * 10)} ]; do sleep 0.1; i=$((i+1)); done; [ -e ready ]`;

/** Sends one request and waits for its answer; status 3 when the worker is dead. */
export function askWorker(folder: string, id: string, code: string): string {
  const request = `${JSON.stringify({ id, code })}\n`;
  const alive = `kill -0 "$(cat pid)" 2>/dev/null`;
  return `cd ${quoted(folder)} && ${alive} || exit 3; printf %s ${base64(request)} | base64 -d > requests; while [ ! -e ${id} ]; do ${alive} || [ -e ${id} ] || exit 3; sleep 0.02; done; cat ${id}; rm -f ${id}`;
}

export const stopWorker = (folder: string): string => `cd ${quoted(folder)} && kill -9 "$(cat pid)" 2>/dev/null; true`;

/** Throws a `SyntaxError` or a `TypeError` for what no worker says. */
export function readAnswer(text: string): PythonAnswer {
  const answer = JSON.parse(text) as PythonAnswer;
  if (typeof answer.stdout !== "string" || typeof answer.stderr !== "string" || typeof answer.count !== "number")
    throw new TypeError("not an answer of the worker");
  return answer;
}

/** What the model reads of an answer. */
export function answerText({ stdout, stderr, error, result, count }: PythonAnswer): string {
  const parts = [
    stdout.trimEnd(),
    stderr.trim() === "" ? "" : `stderr:\n${stderr.trimEnd()}`,
    error === null ? (result === null ? "" : `Out[${count}]: ${result}`) : error.trimEnd(),
  ].filter((part) => part !== "");
  return parts.length === 0 ? "(no output)" : parts.join("\n");
}
