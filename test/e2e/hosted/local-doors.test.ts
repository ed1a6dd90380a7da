import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { commandLineOf } from "../../../src/cli/state/processes.ts";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { until, Workplace } from "../../support/cli/cli-process.ts";

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.remove());

/** Status of the answer to a request as it is written; 0 = none. */
const status = (port: number, request: string): Promise<number> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${request}\r\n\r\n`));
    socket.setTimeout(5000, () => socket.destroy());
    socket.once("data", (chunk) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1] ?? 0));
      socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(0));
  });

it("the local service has one door: the runtime's own ones stay shut, and neither they nor its end are the end of the command", {
  timeout: 60_000,
}, async () => {
  const serve = place.start(["serve", "--port", "0"]);
  await serve.says("Edgewise listens on");
  const { port, workerd_pid, boot_id } = readLock(place.state) ?? {};
  if (!port || !workerd_pid) throw new Error("the lock names no service");
  const own = "Host: localhost\r\nConnection: close";
  const ask = (line: string, more = ""): Promise<number> => status(port, `${line} HTTP/1.1\r\n${own}${more}`);
  expect(await ask("GET /health")).toBe(200);
  const answers = [
    await ask("GET /cdn-cgi/local/r2/public/edgewise/x"),
    await ask("GET /cdn-cgi/local/scheduled"),
    await ask("GET /v1/models", "\r\nMF-Route-Override: edgewise-embedded"),
    await ask("GET /health", "\r\nMF-CF-Blob: {"),
    await ask("CONNECT evil.example:443"),
    await ask("GET //"),
    await ask("GET http://evil.example/health"),
    // The word that any page may write, and the proof that only the user's commands can read.
    await ask("GET /api/v1/evaluations/", "\r\nX-Edgewise-Attended: 1"),
    // Pages of another port, with a run's id or without, and what they embed.
    await ask("POST /api/v1/evaluations/0000abcd/interrupt", "\r\nOrigin: http://localhost:3000"),
    await ask("GET /api/v1/evaluations/", "\r\nOrigin: http://localhost:3000"),
    await ask("GET /dashboard/", "\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script"),
    // Its own page, and a request of no page.
    await ask("POST /api/v1/evaluations/0000abcd/interrupt", "\r\nOrigin: http://localhost\r\nSec-Fetch-Site: same-origin"),
    await ask("POST /api/v1/evaluations/0000abcd/interrupt"),
  ];
  expect(answers).toEqual([404, 404, 422, 422, 422, 422, 422, 401, 401, 401, 401, 404, 404]);
  const { secret } = JSON.parse(readFileSync(join(place.state, "secret"), "utf8")) as { secret: string };
  expect(await ask("GET /api/v1/evaluations/", `\r\nX-Edgewise-Attended: ${secret}`)).toBe(200);

  const command = commandLineOf(workerd_pid) ?? "";
  expect(command).toMatch(/--socket-addr=entry=unix:/);
  const parent = Number(/loopback=127\.0\.0\.1:(\d+)/.exec(command)?.[1]);
  for (const target of ["//", "/", "/core/log"]) expect(await status(parent, `GET ${target} HTTP/1.1\r\n${own}`), target).toBe(403);
  expect(await status(parent, `GET // HTTP/1.1\r\n${own}\r\nMF-Loopback-Secret: guess`)).toBe(403);
  expect(await ask("GET /health")).toBe(200);

  process.kill(workerd_pid, "SIGKILL");
  await serve.says("started again");
  await until(
    () => (readLock(place.state)?.workerd_pid ?? workerd_pid) !== workerd_pid,
    10_000,
    () => "another runtime",
  );
  let back = 0;
  for (let deadline = Date.now() + 20_000; back !== 200 && Date.now() < deadline; ) back = await ask("GET /health");
  expect(back).toBe(200);
  expect(readLock(place.state)).toMatchObject({ port, boot_id });
  process.kill(serve.pid, "SIGTERM");
  expect(await serve.ended).toBe(0);
});
