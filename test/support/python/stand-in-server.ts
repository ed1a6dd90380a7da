/**
 * Stands in for `python -m edgewise_env` where a test is about processes alone. `STAND_IN` says how it behaves: it serves, fails, prints something else first, never answers,
 * or has a process of its own, whose number it writes to the file `STAND_IN_CHILD`.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

const { STAND_IN: how = "serves", STAND_IN_CHILD: childFile } = process.env;
const port = Number(process.argv[process.argv.indexOf("--port") + 1]);
const tell = (line: object): void => void process.stdout.write(`${JSON.stringify({ edgewise_env: 1, ...line })}\n`);

if (how === "fails") {
  tell({ error: { code: "environment_failed", message: "No module named 'sympy'", hint: "pip install sympy" } });
  process.exit(2);
}
if (how === "crashes") {
  process.stderr.write("Traceback (most recent call last):\nRuntimeError: no\n");
  process.exit(1);
}
if (how === "chats") process.stdout.write('loading …\n{"step": 1}\n');
if (how === "has a child" && childFile !== undefined) {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  writeFileSync(childFile, String(child.pid));
}
const server = createServer((request, response) => {
  if (how === "hangs") return;
  response.end(JSON.stringify({ path: request.url, args: process.argv.slice(2), env: process.env }));
});
server.listen(port, "127.0.0.1", () => {
  const { port: own } = server.address() as { port: number };
  tell({ url: `http://127.0.0.1:${own}`, environment: "stand-in", pid: process.pid });
  if (how === "dies") setTimeout(() => process.exit(3), 50);
});
