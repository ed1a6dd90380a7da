import { JudgeMeter } from "../../../../src/rollouts/state/judge-usage.ts";
import { describe, expect, it } from "vitest";
import { sleep } from "../../../../src/clients/transport/sleep.ts";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import { Endpoints } from "../../../../src/executor/endpoints/endpoints.ts";
import type { ExecutorPorts } from "../../../../src/executor/ports.ts";
import { Slice } from "../../../../src/executor/slice.ts";
import { streams } from "../../../support/clients/client-plays.ts";
import { clientPortsOfExecutor, grantFor } from "../../../support/run/executor-ports.ts";
import { ask, completion, json, type Play, refuses, says, scriptedEndpoint } from "../../../support/clients/scripted-endpoint.ts";

interface Opened {
  readonly endpoints: Endpoints;
  readonly open: Awaited<ReturnType<Endpoints["open"]>>;
  readonly notes: string[];
  readonly slice: Slice;
}

const unlimited = Number.POSITIVE_INFINITY;

async function opened(
  config: Partial<RunConfig>,
  changes: { ports?: Partial<ExecutorPorts>; connections?: number | null; requests?: number } = {},
): Promise<Opened> {
  const ports = clientPortsOfExecutor(changes.ports);
  const budget = {
    requests: 8,
    connections: changes.connections ?? null,
    margin: 0,
    poll: 0,
    slice: unlimited,
    wanted: unlimited,
    wall: unlimited,
    rollouts: unlimited,
    held: 0,
    subrequests: 3,
    outage: 0,
    firstAnswer: 0,
    storm: 0,
    keepTurns: 10_000,
    unitDeadline: null,
  };
  const slice = new Slice(budget, Date.now);
  const endpoints = new Endpoints(ports, slice, budget);
  const notes: string[] = [];
  const open = await endpoints.open(grantFor(config, changes.requests), {
    answered: 0,
    retry: () => undefined,
    info: () => undefined,
    warning: (_kind, message) => void notes.push(message),
  });
  return { endpoints, open, notes, slice };
}

const place = (base_url: string, name: string) => ({ base_url, api_key_var: `${name}_KEY` });
const askUnit = async ({ open }: Opened, unit: number): Promise<string> =>
  String((await open.clientOf(unit).getResponse(ask({ state: { example_id: unit } }))).message.content);

describe("a run's endpoint", () => {
  it("is sent the run's headers, those from the state, and the key of its own variable", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const run = await opened({ base_url: server.url, api_key_var: "MY_KEY", headers: { "X-Team": "t" }, headers_from_state: { "X-Example": "example_id" } });
    await askUnit(run, 7);
    expect(server.seen[0]?.headers).toMatchObject({ authorization: "Bearer value-of-MY_KEY", "x-team": "t", "x-example": "7", "x-session-id": "7" });
  });

  it("is spoken to by the client that the run names", async () => {
    await using server = await scriptedEndpoint(json(200, { content: [{ type: "text", text: "salut" }], stop_reason: "end_turn" }));
    expect(await askUnit(await opened({ base_url: server.url, api_client_type: "anthropic_messages" }), 0)).toBe("salut");
  });

  it("keeps to no common limit where the service has no Limiters, and says so", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const run = await opened({ base_url: `${server.url}/v1?secret=1`, common_limit: { id: "a-1", concurrent: 3 } });
    expect(run.notes).toEqual([`requests to ${server.url}/v1 keep to no common limit: this service has no Limiters (its wrangler.toml is of before)`]);
    expect((await opened({ base_url: server.url })).notes).toEqual([]);
  });

  it("counts every call, those of the AI binding too", async () => {
    const ai = { run: async () => Response.json({ response: "ok" }) };
    const run = await opened({ base_url: "workers-ai", api_client_type: "workers_ai" }, { ports: { ai } });
    for (const unit of [0, 1, 2]) await askUnit(run, unit);
    expect(run.slice.isOver).toBe(true);
  });
});

describe("what answers say of their model", () => {
  const saidBy = async (config: Partial<RunConfig>, play: Play) => {
    await using server = await scriptedEndpoint(play);
    const run = await opened({ base_url: server.url, ...config });
    await run.open
      .clientOf(0)
      .getResponse(ask({ sampling_args: { stream: true } }))
      .catch(() => undefined);
    return run.open.vitals().response_models;
  };

  it("is told of every client, streamed and whole, and of no answer that was not taken", async () => {
    const fingerprint = { system_fingerprint: "fp_1" };
    expect(await saidBy({}, json(200, completion("ok", { model: "m-2025", ...fingerprint })))).toEqual({
      seen: [{ model: "m-2025", ...fingerprint, answers: 1 }],
    });
    const events = [{ model: "m-2025", ...fingerprint, choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }] }];
    expect(await saidBy({}, streams(events, { gapMs: 0 }))).toEqual({ seen: [{ model: "m-2025", ...fingerprint, answers: 1 }] });
    const anthropic = json(200, { model: "claude-x-1", content: [{ type: "text", text: "ok" }], stop_reason: "end_turn" });
    expect(await saidBy({ api_client_type: "anthropic_messages" }, anthropic)).toEqual({
      seen: [{ model: "claude-x-1", system_fingerprint: null, answers: 1 }],
    });
    const response = json(200, { model: "r-1", status: "completed", output: [{ type: "message", content: [{ type: "output_text", text: "ok" }] }] });
    expect(await saidBy({ api_client_type: "openai_responses" }, response)).toEqual({ seen: [{ model: "r-1", system_fingerprint: null, answers: 1 }] });
    expect(await saidBy({}, json(200, completion("ok", { model: "" })))).toBeUndefined();
    expect(await saidBy({}, json(400, { ...completion("ok"), error: { message: "no" } }))).toBeUndefined();
  });

  it("is not told of what judges answer", async () => {
    await using server = await scriptedEndpoint(says("ok"));
    const run = await opened({ base_url: server.url, api_key_var: "MY_KEY" });
    const grant = grantFor({ base_url: server.url, api_key_var: "MY_KEY" });
    const judge = run.endpoints.bound(grant, { answered: 0, retry: () => undefined, info: () => undefined, warning: () => undefined })({
      ...{ base_url: server.url, api_key_var: "MY_KEY", model: "judge" },
    });
    await judge.getResponse(ask());
    expect([server.seen.length, run.open.vitals().response_models]).toEqual([1, undefined]);
  });
});

describe("replicas", () => {
  it("get equal shares, unit by unit, each with its own key and headers", async () => {
    await using a = await scriptedEndpoint(says("a"));
    await using b = await scriptedEndpoint(says("b"));
    const run = await opened({ replicas: [place(a.url, "A"), { ...place(b.url, "B"), headers: { "X-Place": "b" } }] });
    const answers = await Promise.all([0, 1, 2, 3, 4, 5].map((unit) => askUnit(run, unit)));
    expect(answers).toEqual(["a", "b", "a", "b", "a", "b"]);
    expect([a.seen[0]?.headers.authorization, b.seen[0]?.headers.authorization]).toEqual(["Bearer value-of-A_KEY", "Bearer value-of-B_KEY"]);
    expect([a.seen[0]?.headers["x-place"], b.seen[0]?.headers["x-place"]]).toEqual([undefined, "b"]);
    expect(run.notes).toEqual([]);
  });

  it("that refuse connections are passed over for a while, told once, and asked again later", async () => {
    await using a = await scriptedEndpoint(says("a"));
    const dead = await scriptedEndpoint(says("never"));
    await dead[Symbol.asyncDispose]();
    let now = 1_000;
    let attempts = 0;
    const fetching: ExecutorPorts["fetch"] = (url, init) => {
      if (url.startsWith(dead.url)) attempts++;
      return fetch(url, init);
    };
    const run = await opened({ replicas: [place(dead.url, "D"), place(a.url, "A")] }, { ports: { now: () => now, fetch: fetching } });
    for (const unit of [0, 2, 4, 1]) expect(await askUnit(run, unit)).toBe("a");
    expect([attempts, run.notes]).toEqual([
      1,
      [expect.stringMatching(/^the replica http.* takes no connections; its units go to the others, and it is asked again in 5 s$/)],
    ]);
    now += 5_001;
    expect(await askUnit(run, 0)).toBe("a");
    expect(attempts).toBe(2);
    now += 5_001;
    expect(await askUnit(run, 0)).toBe("a");
    expect(attempts).toBe(2);
  });

  it("that all refuse connections end a request as one would", async () => {
    const run = await opened({ replicas: [place("http://127.0.0.1:1/v1", "A"), place("http://127.0.0.1:2/v1", "B")] });
    await expect(askUnit(run, 0)).rejects.toMatchObject({ code: "connection_failed" });
    expect(run.open.vitals().in_flight).toBe(0);
  });

  it("wait each for itself, and answer for themselves: a refusal is no reason to ask another", async () => {
    await using a = await scriptedEndpoint(refuses(429, {}, { "retry-after": "60" }), says("late"));
    await using b = await scriptedEndpoint(refuses(401));
    const run = await opened({ replicas: [place(a.url, "A"), place(b.url, "B")] }, { ports: { sleep } });
    const controller = new AbortController();
    const paused = run.open.clientOf(0).getResponse(ask({ signal: controller.signal }));
    const ended = paused.catch((thrown: unknown) => thrown);
    await expect(askUnit(run, 1)).rejects.toMatchObject({ code: "auth_failed" });
    expect(run.open.vitals().paused_until).toBeNull();
    controller.abort("enough");
    await ended;
    expect([a.seen.length, b.seen.length]).toEqual([1, 1]);
  });

  it("share the requests of the grant", async () => {
    const slow: Play = (response) => void setTimeout(() => says("ok")(response, undefined as never), 30);
    await using a = await scriptedEndpoint(slow);
    await using b = await scriptedEndpoint(slow);
    const run = await opened({ replicas: [place(a.url, "A"), place(b.url, "B")] }, { requests: 3 });
    await Promise.all(Array.from({ length: 9 }, (_, unit) => askUnit(run, unit)));
    expect(a.load.most + b.load.most).toBeLessThanOrEqual(4);
    expect(run.open.vitals().in_flight).toBe(0);
  });
});

describe("connections that the platform counts", () => {
  const events = [{ choices: [{ index: 0, delta: { content: "x" }, finish_reason: null }] }, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }];

  it("are held by a streamed answer until its headers only", async () => {
    await using server = await scriptedEndpoint(streams(events, { gapMs: 60 }));
    const run = await opened({ base_url: server.url }, { connections: 2 });
    await Promise.all([0, 1, 2, 3, 4, 5].map((unit) => run.open.clientOf(unit).getResponse(ask({ sampling_args: { stream: true } }))));
    expect(server.load.most).toBeGreaterThan(2);
  });

  it("are held by any other answer until it is there", async () => {
    const slow: Play = (response) => void setTimeout(() => json(200, completion("ok"))(response, undefined as never), 20);
    await using server = await scriptedEndpoint(slow);
    const run = await opened({ base_url: server.url }, { connections: 2 });
    await Promise.all([0, 1, 2, 3, 4, 5].map((unit) => askUnit(run, unit)));
    expect(server.load.most).toBe(2);
  });

  it("are given back by who gives up", async () => {
    const controller = new AbortController();
    // Given up once it is there, and never answered.
    await using server = await scriptedEndpoint(() => controller.abort("enough"), says("ok"));
    const run = await opened({ base_url: server.url }, { connections: 1 });
    const first = run.open.clientOf(0).getResponse(ask({ signal: controller.signal }));
    await expect(first).rejects.toBe("enough");
    expect(await askUnit(run, 1)).toBe("ok");
  });
});

describe("a model that an environment calls itself", () => {
  const quiet = { answered: 0, retry: () => undefined, info: () => undefined, warning: () => undefined };

  it("is called with the key of the variable it names, and without the run's headers", async () => {
    await using server = await scriptedEndpoint(says("9/10"));
    const { endpoints } = await opened({});
    const client = endpoints.bound(grantFor({ headers: { "X-Team": "t" } }), quiet)({ base_url: server.url, api_key_var: "JUDGE_KEY" });
    expect((await client.getResponse(ask())).message.content).toBe("9/10");
    expect(server.seen[0]?.headers).toMatchObject({ authorization: "Bearer value-of-JUDGE_KEY" });
    expect(server.seen[0]?.headers).not.toHaveProperty("x-team");
    // What environments get holds nothing that leads to the key.
    expect(Object.keys(client).sort()).toEqual(["getResponse", "relay", "score", "type"]);
  });

  it("is counted by request and tokens, refused attempts and answers that are none among them, for the rollout whose state was named", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
    const answers =
      (body: object, status = 200): Play =>
      (response) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(body));
      };
    const good = answers({ id: "a", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "9" } }], usage });
    const none = answers({ id: "a", choices: [], usage: { ...usage, prompt_tokens: 5, total_tokens: 7 } });
    await using server = await scriptedEndpoint(answers({ error: { message: "busy" } }, 500), good, good, none, none, none, none, none);
    const { endpoints } = await opened({});
    const judges = new JudgeMeter();
    const bind = endpoints.bound(grantFor({}), quiet, judges);
    const state = { trajectory: [] };
    expect(judges.take(state)).toBeNull();
    const client = bind({ base_url: server.url, api_key_var: "JUDGE_KEY" });
    await client.getResponse(ask({ state }));
    await client.getResponse(ask({ state: {} }));
    await expect(client.getResponse(ask({ state: { ...state } }))).rejects.toThrow();
    const sent = server.seen.length;
    const tokens = { input_tokens: 20 + 5 * (sent - 3), output_tokens: 4 + 2 * (sent - 3) };
    expect(judges.take(state)).toEqual({ requests: sent, ...tokens });
    expect(judges.take({ trajectory: [] })).toEqual({ requests: 0, input_tokens: 0, output_tokens: 0 });
  });

  it("is refused where a request could not name it, also at a terminal: there its own keys and the run's own place are the user's word", async () => {
    const { endpoints } = await opened({}, { ports: { placeProblem: () => "PROVIDER_KEY is not sent to evil.example" } });
    const judge = { base_url: "https://evil.example/v1", api_key_var: "PROVIDER_KEY" };
    expect(() => endpoints.bound(grantFor({}), quiet)(judge)).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringContaining("evil.example") }),
    );
    const attended = grantFor({ attended: true });
    expect(() => endpoints.bound(attended, quiet)(judge)).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringMatching(/evil\.example; or the environment declares PROVIDER_KEY/) }),
    );
    expect(() => endpoints.bound(attended, quiet, undefined, ["PROVIDER_KEY"])(judge)).not.toThrow();
    expect(() => endpoints.bound(grantFor({}), quiet, undefined, ["PROVIDER_KEY"])(judge)).toThrow();
    const { base_url, api_key_var } = attended.config;
    expect(() => endpoints.bound(attended, quiet)({ base_url, api_key_var })).not.toThrow();
    expect(() => endpoints.bound(attended, quiet)({ base_url: "https://evil.example/v1", api_key_var })).toThrow();
  });

  it("is asked by no more at once than the grant says, however many requests it has", async () => {
    const slow: Play = (response) => void setTimeout(() => says("ok")(response, undefined as never), 20);
    await using server = await scriptedEndpoint(slow);
    const { endpoints } = await opened({});
    const bind = endpoints.bound({ ...grantFor({}, 8), scoring: 3 }, quiet);
    const client = bind({ base_url: server.url, api_key_var: "JUDGE_KEY" });
    await Promise.all(Array.from({ length: 9 }, () => client.getResponse(ask())));
    expect(server.load.most).toBe(3);
  });
});
