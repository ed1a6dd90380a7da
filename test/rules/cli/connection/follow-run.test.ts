import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { LogEvent, RunState } from "../../../../src/cli/connection/api-types.ts";
import { followRun } from "../../../../src/cli/connection/follow-run.ts";
import { FOREIGN, ServiceClient, ServiceError, ServiceUnreachable } from "../../../../src/cli/connection/http-client.ts";
import { SseParser } from "../../../../src/cli/connection/sse.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";

let service: FakeService | null = null;
afterEach(async () => {
  await service?.close();
  service = null;
});

const state = (change: Partial<RunState> = {}): RunState => ({
  run_id: "1a2b3c4d",
  phase: "open",
  settled: false,
  suspended: false,
  done_units: 0,
  total_units: 2,
  done_rollouts: 0,
  total_rollouts: 2,
  owed_rollouts: 2,
  reward: null,
  errors: {},
  tokens: { input: 0, output: 0 },
  vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null },
  seq: 0,
  env_version: "1",
  dataset_digest: null,
  ...change,
});

const log = (seq: number, message: string): string => `id: ${seq}\nevent: log\ndata: ${JSON.stringify({ seq, time: 0, level: "WARNING", message })}\n\n`;
const commit = (seq: number): string => `id: ${seq}\nevent: commit\ndata: {"seq":${seq},"rollouts":1}\n\n`;
const progress = (change: Partial<RunState>): string => `event: progress\ndata: ${JSON.stringify(state(change))}\n\n`;
const end = (change: Partial<RunState>): string => `event: end\ndata: ${JSON.stringify(state({ phase: "settled", settled: true, ...change }))}\n\n`;

/** Serves one list of frames per connection; `null` breaks the connection off after what was sent. */
async function serve(connections: readonly (readonly (string | null)[])[]): Promise<ServiceClient> {
  let next = 0;
  service = await startFakeService((_, response: ServerResponse) => {
    const frames = connections[next++] ?? [];
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const frame of frames) {
      if (frame === null) return void setTimeout(() => response.destroy(), 30);
      response.write(frame);
    }
    response.end();
  });
  return new ServiceClient(service.url);
}

async function follow(client: ServiceClient, signal = new AbortController().signal, patienceMs = 300) {
  const seen: string[] = [];
  const point = { seq: 0 };
  const result = await followRun(
    client,
    "1a2b3c4d",
    point,
    {
      onState: ({ done_rollouts }) => seen.push(`state ${done_rollouts}`),
      onLog: ({ message }: LogEvent) => seen.push(`log ${message}`),
      onCommit: () => seen.push("commit"),
    },
    { patienceMs, signal },
  );
  return { seen, point, result };
}

describe("following a run", () => {
  it("hands on every stored event once, over connections that end or break, and stops at the end", async () => {
    const client = await serve([
      [log(1, "one"), commit(2), progress({ done_rollouts: 1 }), null],
      ["retry: 10\n\n", commit(2), log(3, "three")],
      [commit(4), progress({ done_rollouts: 2 }), end({ done_rollouts: 2 })],
    ]);
    const { seen, point, result } = await follow(client);
    expect(seen).toEqual(["log one", "commit", "state 1", "log three", "commit", "state 2", "state 2"]);
    expect(point.seq).toBe(4);
    expect(result.settled).toBe(true);
    expect(service?.asked.map(({ query, headers }) => [query.get("after"), headers["last-event-id"]])).toEqual([
      ["0", "0"],
      ["2", "2"],
      ["3", "3"],
    ]);
  });

  it("stops when somebody else suspends the run", async () => {
    const { result } = await follow(await serve([[progress({ suspended: true, done_rollouts: 1 })]]));
    expect(result).toMatchObject({ suspended: true, done_rollouts: 1 });
  });

  it("gives a silent service up after its patience, not before", async () => {
    const client = await serve([[progress({})]]);
    const started = Date.now();
    const { close } = service as FakeService;
    setTimeout(() => void close(), 150);
    await expect(follow(client)).rejects.toBeInstanceOf(ServiceUnreachable);
    expect(Date.now() - started).toBeGreaterThan(300);
  });

  it("does not wait for a run that is gone", async () => {
    service = await startFakeService((_, response) => sendJson(response, 404, { detail: "No such run.", code: "not_found" }));
    await expect(follow(new ServiceClient(service.url))).rejects.toMatchObject({
      name: "ServiceError",
      status: 404,
      code: "not_found",
      message: "No such run.",
    });
  });

  it("ends at once with the reason of its signal, in a stream or between two", async () => {
    const reason = new Error("enough");
    service = await startFakeService((_, response) => {
      response.writeHead(200).write(progress({}));
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 50);
    await expect(follow(new ServiceClient(service.url), stop.signal)).rejects.toBe(reason);
    await service.close();
    const between = new AbortController();
    setTimeout(() => between.abort(reason), 120);
    await expect(follow(new ServiceClient(service.url), between.signal, 5000)).rejects.toBe(reason);
  });
});

describe("the event stream parser", () => {
  it("reads the same events however the text is cut", () => {
    const text = ": hello\r\nretry: 250\r\nid: 7\r\nevent: log\r\ndata: one\r\ndata: two\r\n\r\ndata:three\n\nevent: empty\n\nid\ndata: last\n\n";
    const whole = new SseParser();
    const expected = [
      { event: "log", data: "one\ntwo", id: "7" },
      { event: "message", data: "three", id: "7" },
      { event: "message", data: "last", id: "" },
    ];
    expect(whole.push(text)).toEqual(expected);
    expect(whole.retryMs).toBe(250);
    const cut = new SseParser();
    expect([...text].flatMap((letter) => cut.push(letter))).toEqual(expected);
  });
});

describe("the client of the service", () => {
  it("reads the service's errors, with hints and fields, and whatever else a server may say", async () => {
    const answers: [number, string][] = [
      [422, `{"detail":[{"loc":["body","eval_config","num_examples"],"msg":"too many"},{"loc":["body"],"msg":"odd"}],"code":"invalid_request"}`],
      [409, `{"detail":"Busy.","code":"run_busy","hint":"Wait."}`],
      [502, "<html>bad gateway</html>"],
    ];
    service = await startFakeService((_, response) => {
      const [status, text] = answers.shift() ?? [200, "{}"];
      response.writeHead(status).end(text);
    });
    const client = new ServiceClient(service.url);
    await expect(client.resumeRun("x", {})).rejects.toMatchObject({ status: 422, code: "invalid_request", message: "num_examples: too many\nodd" });
    await expect(client.resumeRun("x", {})).rejects.toMatchObject({ status: 409, code: "run_busy", message: "Busy.", hint: "Wait." });
    await expect(client.resumeRun("x", {})).rejects.toMatchObject({ status: 502, message: "status 502: <html>bad gateway</html>" });
  });

  it("repeats a creation under one idempotency key when the connection breaks, and sends token and attendance", async () => {
    let broken = 1;
    service = await startFakeService((_, response) => {
      if (broken-- > 0) response.destroy();
      else sendJson(response, 200, { evaluation_id: "1a2b3c4d", evaluation_ids: ["1a2b3c4d"] });
    });
    const client = new ServiceClient(`${service.url}/`, { token: "secret", attended: "proof" });
    expect((await client.createRun({ a: 1 }, "key-1")).evaluation_id).toBe("1a2b3c4d");
    expect(
      service.asked.map(({ method, path, body, headers }) => [
        method,
        path,
        body,
        headers["idempotency-key"],
        headers.authorization,
        headers["x-edgewise-attended"],
      ]),
    ).toEqual(Array(2).fill(["POST", "/api/v1/hosted-evaluations", '{"a":1}', "key-1", "Bearer secret", "proof"]));
  });

  it("does not repeat a resume, whose effect may have been reached", async () => {
    service = await startFakeService((_, response) => {
      response.destroy();
    });
    await expect(new ServiceClient(service.url).resumeRun("x", {})).rejects.toBeInstanceOf(ServiceUnreachable);
    expect(service.asked).toHaveLength(1);
  });

  it("gives up on an answer that does not come in time", async () => {
    service = await startFakeService(() => undefined);
    await expect(new ServiceClient(service.url).run("x", { timeoutMs: 50, retries: 0 })).rejects.toThrow(/no answer in time/);
  });

  it("says when something else than the service answers", async () => {
    service = await startFakeService((_, response) => {
      response.writeHead(200).end("<html>");
    });
    const error = await new ServiceClient(service.url).run("x").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: FOREIGN, message: expect.stringContaining("did not answer with JSON: <html>") });
  });
});
