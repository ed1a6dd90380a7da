import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Handler, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { writeRun } from "../../../support/results/exported-run.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-push-test-"));
  writeRun(join(cwd, "run"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const evaluation = (settled: boolean) => ({ evaluation_id: "0000abcd", status: "COMPLETED", total_samples: 4, metrics: {}, edgewise: { settled } });

/** A service that takes samples, and meets each request for how far it is as `looks` say. */
async function pushedTo(looks: readonly Handler[]) {
  let [finalised, looked] = [0, 0];
  const service = await startFakeService((request, response) => {
    const { method, path } = request;
    if (path.includes("/health")) return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path.endsWith("/finalize")) return finalised++ === 0 ? void response.destroy() : sendJson(response, 200, { viewer_url: "http://there/" });
    if (path.endsWith("/samples")) return sendJson(response, 200, { added: true });
    if (method === "POST") return sendJson(response, 201, { evaluation_id: "0000abcd" });
    return (looks[looked++] ?? looks.at(-1))?.(request, response);
  });
  try {
    return { ...(await runInProcess(["push", "run"], { cwd, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "secret" } })), looked };
  } finally {
    await service.close();
  }
}

const busy: Handler = (_, response) => sendJson(response, 503, { detail: "overloaded", code: "storage_unavailable" });
const silent: Handler = (_, response) => void response.destroy();
const says =
  (settled: boolean): Handler =>
  (_, response) =>
    sendJson(response, 200, evaluation(settled));

test("a service that is too busy to say how far it is, or does not answer, is asked again: what was sent is there", async () => {
  const { code, out, err, looked } = await pushedTo([silent, busy, says(false), silent, says(true)]);
  expect([code, looked], err).toEqual([0, 5]);
  expect(out.join("\n")).toContain("Pushed: evaluation 0000abcd, COMPLETED");
  expect(err).toContain("trying again. What was sent is there.");
  expect(err).toContain("answers again.");
});

test("what is certain ends the waiting at once", async () => {
  const gone: Handler = (_, response) => sendJson(response, 404, { detail: "Evaluation not found.", code: "not_found" });
  const { code, err, looked } = await pushedTo([gone, says(true)]);
  expect([code, looked]).toEqual([1, 1]);
  expect(err).toContain("Evaluation not found.");
});
