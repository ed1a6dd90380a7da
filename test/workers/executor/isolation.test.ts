import { env } from "cloudflare:workers";
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { registryStub } from "../../../durable-objects/stubs.ts";
import { ROUTE_ACCESS } from "../../../src/api/access/route-access.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { Random } from "../../simulation/world/random.ts";
import { moduleOf, pushForm } from "../../support/door/push-form.ts";
import { scriptedServer } from "../../support/links/scripted-server.ts";
import { sentTraces } from "../../support/door/traces-upload.ts";
import { Fleet } from "../support/fleet.ts";
import { CREATION, created, Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { namedPath, type Names } from "../support/named-path.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, service, setVars, silenceQueue, STEADY } from "../support/service.ts";

/**
 * Whoever is in one team asks every route for what is another's, and beside it for the same of which nobody has anything: no two answers
 * differ. `EDGEWISE_ISOLATION=3000` asks for so many; `EDGEWISE_TEST_SEED` plays one draw again.
 */
const { EDGEWISE_ISOLATION, EDGEWISE_TEST_SEED } = env as unknown as { readonly EDGEWISE_ISOLATION?: string; readonly EDGEWISE_TEST_SEED?: string };
const REQUESTS = Number(EDGEWISE_ISOLATION ?? 160);

const bytes = new TextEncoder().encode('{"text": "secret words"}\n');
const theirs: { secrets: string[]; runs: string[]; keys: string[]; digest: string; tokens: string[]; message: string; limiter: string } = {
  secrets: [],
  runs: [],
  keys: [],
  digest: "",
  tokens: [],
  message: "",
  limiter: "",
};
let door: Door;
let ada: string;
let push: { readonly body: Uint8Array; readonly type: string };

beforeEach(async () => {
  setVars(STEADY);
  deploy();
  // So many in a minute would be refused for that.
  Object.assign(service, { REQUESTS: undefined });
  door = new Door();
  await door.join("ada", ["acme"]);
  await door.join("bob", ["quokkas"]);
  ada = await door.token("ada", ["acme"], ["admin"]);
  // What is asked for here is more than a team may usually have.
  await door.json(OWNER_TOKEN, "PUT", "/teams/acme/limits", { runs: null, rollouts: null });
  const bob = await door.token("bob", ["quokkas"], ["admin"]);
  theirs.digest = await sha256Hex(bytes);
  await door.json(bob, "PUT", `/datasets/${theirs.digest}`, bytes);
  const fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
  const finished = await created(door, bob);
  await fleet.settled(`quokkas/${finished}`);
  await fleet.close();
  silenceQueue();
  theirs.keys = Array.from({ length: 12 }, (_, n) => `their key ${n}`);
  const keyed: string[] = [];
  for (const key of theirs.keys) keyed.push(await created(door, bob, { name: "theirs" }, { "idempotency-key": key }));
  const [pending = "", cancelled = "", suspended = ""] = keyed;
  await door.json(bob, "PATCH", `/hosted-evaluations/${cancelled}/cancel`);
  await door.json(bob, "POST", `/evaluations/${suspended}/interrupt`, {});
  const handedIn = { name: "theirs", environments: [{ id: "elsewhere" }], model_name: "m", tags: [] };
  const pushed = await door.json<{ evaluation_id: string }>(bob, "POST", "/evaluations/", handedIn);
  theirs.runs = [finished, pending, cancelled, suspended, pushed.evaluation_id];
  await door.json(bob, "POST", "/endpoints", { endpoint: [{ ...ENTRY, endpoint_id: THEIR_ENDPOINT }] });
  await door.json(bob, "PUT", `/named-datasets/${THEIR_DATASET}`, { files: [{ path: "README.md", dataset: `sha256:${theirs.digest}` }] });
  await door.json(bob, "PUT", `/baselines/${THEIR_DATASET}`, { run_id: finished });
  await door.json(bob, "PUT", `/schedules/${THEIR_SCHEDULE}`, SCHEDULE);
  await door.json(bob, "PUT", `/monitors/${THEIR_SCHEDULE}`, { every: "5m" });
  await door.json(bob, "PUT", `/alerts/${THEIR_ALERT}`, ALERT);
  theirs.message = (await door.json<{ data: { id: string } }>(bob, "POST", `/alerts/${THEIR_ALERT}/test`, {})).data.id;
  await door.json(bob, "PUT", `/evaluators/${THEIR_EVALUATOR}`, EVALUATOR);
  await door.json(bob, "POST", `/evaluators/${THEIR_EVALUATOR}/steps`, { step: 1, model: "theirs" });
  const server = scriptedServer({ token: LINK.token });
  Object.assign(service, { NETWORK: { fetch: (url: string, init?: RequestInit) => server.handle(new Request(url, init)) } });
  await door.json(bob, "PUT", `/environments/linked/${THEIR_LINK}`, LINK);
  Object.assign(service, { NETWORK: { fetch: () => Promise.reject(new Error("nobody is there")) } });
  push = await pushForm({ module: moduleOf({ id: THEIR_ENVIRONMENT }) });
  await door.json(bob, "PUT", `/environmentshub/quokkas/${THEIR_ENVIRONMENT}/@1.0.0`, push.body, { "content-type": push.type });
  const kept: [path: string, body: object][] = [
    ["/secrets/", { name: "THEIRS", value: "secret words" }],
    ["/environmentshub/reverse-text/secrets", { name: "THEIRS", value: "secret words" }],
    ["/environmentshub/reverse-text/variables", { name: "THEIRS", value: "words" }],
  ];
  theirs.secrets = [];
  for (const [path, body] of kept) theirs.secrets.push((await door.json<{ data: { id: string } }>(bob, "POST", path, body)).data.id);
  await door.json(bob, "PUT", `/limits/given/${THEIR_SCHEDULE}`, { url: ENTRY.url, key: "THEIRS", concurrent: 8 });
  for (const whose of ["team", "keys/THEIRS"]) await door.json(bob, "PUT", `/budgets/${whose}`, { day: 1_000 });
  await registryStub(service, "quokkas").limiterSeen({ team: "quokkas", name: "their limiter", place: { ...PLACE, api_key_var: "THEIRS" } });
  theirs.limiter = (await door.json<{ data: { limiter_id: string }[] }>(bob, "GET", "/limits")).data[0]?.limiter_id ?? "";
  theirs.tokens = (await door.json<{ data: { id: string }[] }>(bob, "GET", "/tokens")).data.map(({ id }) => id);
});
// Objects of thousands of ids are put away.
afterEach(async () => {
  undeploy();
  Object.assign(service, { NETWORK: undefined });
  await reset();
}, 120_000);

const THEIR_ENDPOINT = "theirs-to-call";
const THEIR_DATASET = "theirs-to-read";
const THEIR_SCHEDULE = "theirs-at-night";
const THEIR_ALERT = "theirs-to-hear";
const ALERT = { to: "webhook", url: "https://hooks.example/x", for: ["nothing-at-all"] };
const SCHEDULE_EVAL = { env_id: "reverse-text", api_base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY" };
const SCHEDULE = { cron: "0 3 * * *", eval: { ...SCHEDULE_EVAL, model: "scripted" } };
const THEIR_EVALUATOR = "theirs-to-train";
const EVALUATOR = { run_every: 5, evaluations: [{ eval: SCHEDULE_EVAL }] };
const THEIR_ENVIRONMENT = "theirs-to-run";
const THEIR_LINK = "theirs-elsewhere";
/** Nobody is there: that is told of every name. */
const LINK = { urls: ["https://env.example"], token: "a token of theirs" };
const PLACE = { base_url: "https://models.example/v1", model_class: "m" };
const ENTRY = { model: "m", url: "https://models.example/v1", key: "MODELS_API_KEY" };

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** In the place of a body: episodes as a client streams them. */
  readonly traces?: { readonly lines: string; readonly gzip: boolean };
}

/** One request for each route and way to name something in it. */
function variants(route: string, names: Names): Asked[] {
  const { run, digest, team, key, endpoint, dataset, environment, link } = names;
  const [method = "", pattern = ""] = route.split(" ");
  const path = namedPath(pattern, names);
  const at = path.startsWith("/api/v1") ? path.slice("/api/v1".length) : `/${path}`;
  const folder = (results: string) => ({ run_id: run, results, dataset_digest: null, keep_errors: false });
  const named = { "x-edgewise-team": team };
  if (route.includes(":owner/:id")) {
    const form = method === "POST" ? { body: { paths: ["README.md"] } } : {};
    return ["edgewise", team].flatMap((owner) =>
      [run, dataset].map((name) => ({ method, path: at.replace(":owner/:repository", `${owner}/${name}`), ...form })),
    );
  }
  switch (route) {
    case "POST /api/v1/hosted-evaluations":
      return [
        { method, path: at, body: CREATION, headers: { "idempotency-key": key } },
        { method, path: at, body: { ...CREATION, team_id: team } },
        { method, path: at, body: { ...CREATION, resume_from: folder(digest) } },
        { method, path: at, body: { ...CREATION, eval_config: { ...CREATION.eval_config, env_args: { dataset: `sha256:${digest}` } } } },
        { method, path: at, body: CREATION, headers: named },
        { method, path: at, body: { ...CREATION, environment_ids: [`${team}/${environment}`] } },
        { method, path: at, body: { ...CREATION, environment_ids: [link] } },
        { method, path: at, body: { environment_ids: ["reverse-text"], eval_config: { endpoint_id: endpoint } } },
        { method, path: at, body: { environment_ids: ["reverse-text"], inference_model: endpoint } },
        { method, path: at, body: { environment_ids: ["reverse-text"], rescore: { run_id: run } } },
        { method, path: at, body: { environment_ids: ["reverse-text"], rescore: { results: digest } } },
        ...[run, dataset].map((name) => ({ method, path: at, body: { ...CREATION, eval_config: { ...CREATION.eval_config, stop_when: `vs ${name}` } } })),
      ];
    case "POST /api/v1/evaluations/:id/previews":
      return [{ method, path: at, body: { places: [[0, 0]], fields: ["prompt"] } }];
    case "GET /api/v1/evaluations/:id/search":
      return [{ method, path: `${at}?text=secret` }];
    case "POST /api/v1/comparisons":
    case "POST /api/v1/comparisons/examples":
      return [{ method, path: at, body: { runs: [run, "0123abcd"] } }];
    case "POST /api/v1/traces":
      return [true, false].map((gzip) => ({ method, path: at, traces: { lines: `${JSON.stringify({ run: { id: run }, traces: [] })}\n`, gzip } }));
    case "PUT /api/v1/schedules/:schedule":
      return [`${at}?team_id=${team}`, `${at}?team_id=${team}&dry_run=true`].map((path) => ({ method, path, body: SCHEDULE }));
    case "PUT /api/v1/alerts/:alert":
      return [`${at}?team_id=${team}`, `${at}?team_id=${team}&dry_run=true`].map((path) => ({ method, path, body: ALERT }));
    case "POST /api/v1/evaluations/:id/gate-failed":
      return [{}, named].map((headers) => ({ method, path: at, body: { text: "worse" }, headers }));
    case "PUT /api/v1/environments/linked/:link":
      return [at, `${at}?team_id=${team}`].map((path) => ({ method, path, body: LINK }));
    case "POST /api/v1/environments/linked/:link/lease":
      return [at, `${at}?team_id=${team}`].map((path) => ({ method, path, body: { command: "theirs", lease_seconds: 60 } }));
    // Of another team's name their own would be made, and be there the next time.
    case "PUT /api/v1/monitors/:monitor":
      return [{ method, path: `${at}?team_id=${team}`, body: { every: "5m" } }];
    case "PUT /api/v1/evaluators/:evaluator":
      return [{ method, path: `${at}?team_id=${team}`, body: EVALUATOR }];
    case "POST /api/v1/evaluators/:evaluator/steps":
      return [at, `${at}?team_id=${team}`].map((path) => ({ method, path, body: { step: 4, model: "mine" } }));
    case "PUT /api/v1/limits/given/:limit":
      return [at, `${at}?team_id=${team}`].map((path) => ({ method, path, body: { url: ENTRY.url, key: "THEIRS", concurrent: 4 } }));
    case "PUT /api/v1/budgets/team":
    case "PUT /api/v1/budgets/keys/:key":
      return [{ method, path: `${at}?team_id=${team}`, body: { day: 5 } }];
    case "PUT /api/v1/budgets/everybody/:key":
      return [{ method, path: at, body: { day: 5 } }];
    case "GET /api/v1/limits/given/:limit":
    case "DELETE /api/v1/limits/given/:limit":
    case "GET /api/v1/environments/linked/:link":
    case "DELETE /api/v1/environments/linked/:link":
    case "GET /api/v1/monitors/:monitor":
    case "DELETE /api/v1/monitors/:monitor":
    case "GET /api/v1/alerts/:alert":
    case "DELETE /api/v1/alerts/:alert":
    case "GET /api/v1/alerts/:alert/messages":
    case "GET /api/v1/evaluators/:evaluator":
    case "GET /api/v1/evaluators/:evaluator/points":
    case "DELETE /api/v1/evaluators/:evaluator":
    case "GET /api/v1/schedules/:schedule":
    case "DELETE /api/v1/schedules/:schedule":
      return [
        { method, path: at },
        { method, path: `${at}?team_id=${team}` },
        { method, path: at, headers: named },
      ];
    case "POST /api/v1/endpoints":
    case "PUT /api/v1/endpoints/:endpoint":
      return [
        { method, path: `${at}?team_id=${team}`, body: { endpoint: [method === "PUT" ? ENTRY : { ...ENTRY, endpoint_id: endpoint }] } },
        { method, path: at, body: { endpoint: [ENTRY] }, headers: named },
      ];
    case "PUT /api/v1/baselines/:baseline":
      return [
        { method, path: at, body: { run_id: run } },
        { method, path: `${at}?team_id=${team}`, body: { run_id: run } },
        { method, path: at, body: { run_id: run }, headers: named },
      ];
    case "POST /api/v1/evaluation-configs":
      return [{ method, path: at, body: { eval: [{ env_id: "reverse-text" }], ...CREATION.eval_config, model: "m" }, headers: { "idempotency-key": key } }];
    case "POST /api/v1/evaluation-settings":
      return [{ method, path: at, body: { ...CREATION, team_id: team } }];
    case "GET /api/v1/evaluations":
      return [
        { method, path: `${at}/?team_id=${team}` },
        { method, path: `${at}/`, headers: named },
      ];
    case "GET /api/v1/user/whoami":
      return [{ method, path: `${at}?teamId=${team}` }];
    // Their own, unnamed, has what they asked for themselves.
    case "GET /api/v1/audit":
    case "GET /api/v1/tokens":
    case "GET /api/v1/endpoints":
    case "GET /api/v1/models":
    case "GET /api/v1/baselines":
    case "GET /api/v1/named-datasets":
    case "GET /api/v1/schedules":
    case "GET /api/v1/monitors":
    case "GET /api/v1/alerts":
    case "GET /api/v1/evaluators":
    case "GET /api/v1/environments/linked":
    case "GET /api/v1/limits":
    case "GET /api/v1/limits/given":
    case "GET /api/v1/budgets":
    case "GET /api/v1/cache":
    case "DELETE /api/v1/cache":
      return [
        { method, path: `${at}?team_id=${team}` },
        { method, path: at, headers: named },
      ];
    case "GET /api/v1/secrets":
      return [
        { method, path: `${at}/?teamId=${team}` },
        { method, path: `${at}/`, headers: named },
      ];
    case "POST /api/v1/secrets":
      return [{ method, path: at, body: { name: "THEIRS", value: "of somebody", teamId: team } }];
    case "PATCH /api/v1/secrets/:secret":
    case "PATCH /api/v1/environmentshub/:environment/secrets/:secret":
    case "PATCH /api/v1/environmentshub/:environment/variables/:variable":
      return [
        { method, path: at, body: { description: "mine" } },
        { method, path: `${at}?teamId=${team}`, body: { description: "mine" } },
      ];
    case "POST /api/v1/tokens":
      return [{ method, path: at, body: { name: "x", user: "bob", teams: [team], scopes: ["runs:read"] } }];
    case "PUT /api/v1/environmentshub/:owner/:name/:version{@[^/]+}":
      return [{ method, path: at, body: push.body, headers: { "content-type": push.type } }];
    case "PATCH /api/v1/environmentshub/:owner/:name":
      return [{ method, path: at, body: { visibility: "PUBLIC" } }];
    case "GET /api/v1/environmentshub":
      return ["", `?owner=${team}`, `?search=${environment}`, "?mine_only=true"].map((query) => ({ method, path: `${at}/${query}` }));
    case "PUT /api/v1/datasets/:digest":
      return [{ method, path: at, body: bytes }];
    default:
      return ["POST", "PUT"].includes(method)
        ? [{ method, path: at.replace(":file", "results.jsonl"), body: {} }]
        : ["results.jsonl", "metadata.json", "eval.log"]
            .slice(0, at.includes(":file") ? 3 : 1)
            .flatMap((file) => [at.replace(":file", file)])
            .flatMap((each) => [
              { method, path: each },
              { method: method === "GET" ? "HEAD" : method, path: each },
              { method, path: `${each}?after=1` },
              { method, path: each, headers: named },
            ]);
  }
}

/** All that a caller sees, with what was asked for taken out of it. Ids that are drawn are not told from one another. */
async function seen({ method, path, body, headers, traces }: Asked, names: Names): Promise<unknown> {
  const sent = traces === undefined ? { body, headers } : await sentTraces(traces.lines, { gzip: traces.gzip });
  const response = await door.call(ada, method, path, sent.body, sent.headers);
  let text = await response.text();
  for (const [name, value] of Object.entries(names)) text = text.replaceAll(value, name);
  const kept = [...response.headers].map(([name, value]) => `${name}: ${Object.entries(names).reduce((left, [what, id]) => left.replaceAll(id, what), value)}`);
  return { status: response.status, text: text.replace(/\b[0-9a-f]{8}\b/g, "drawn"), headers: kept.filter((line) => !line.startsWith("x-edgewise-next-mark")) };
}

it(`answers a team's token for another team's ids as for ids that do not exist (${REQUESTS} requests)`, async () => {
  const seed = Number(EDGEWISE_TEST_SEED ?? 20_261_122);
  const random = new Random(seed);
  const hex = (length: number) => Array.from({ length }, () => random.int(0, 15).toString(16)).join("");
  const before = await Promise.all(theirs.runs.map((id) => run(`quokkas/${id}`).view()));
  const routes = Object.keys(ROUTE_ACCESS).filter((route) => route !== "ALL /embedded/*");
  const keys = [...theirs.keys];
  for (let n = 0; n < REQUESTS; n++) {
    const route = routes[n % routes.length] ?? "";
    const key = keys.pop() ?? `spent ${n}`;
    const own: Names = {
      run: random.pick(theirs.runs),
      digest: theirs.digest,
      token: random.pick(theirs.tokens),
      secret: random.pick(theirs.secrets),
      team: "quokkas",
      key,
      endpoint: THEIR_ENDPOINT,
      dataset: THEIR_DATASET,
      schedule: THEIR_SCHEDULE,
      alert: THEIR_ALERT,
      message: theirs.message,
      evaluator: THEIR_EVALUATOR,
      environment: THEIR_ENVIRONMENT,
      link: THEIR_LINK,
      limiter: theirs.limiter,
    };
    const none: Names = {
      run: hex(8),
      digest: hex(64),
      token: hex(12),
      secret: hex(12),
      team: "wombats",
      key: `nobodys key ${n}`,
      endpoint: `nobodys-to-call-${n}`,
      dataset: `nobodys-to-read-${n}`,
      schedule: `nobodys-at-night-${n}`,
      alert: `nobodys-to-hear-${n}`,
      message: `msg_${hex(32)}`,
      evaluator: `nobodys-to-train-${n}`,
      environment: `nobodys-to-run-${n}`,
      link: `nobodys-elsewhere-${n}`,
      limiter: hex(8),
    };
    const at = random.int(0, variants(route, own).length - 1);
    const [asked, beside] = [variants(route, own)[at], variants(route, none)[at]];
    if (asked === undefined || beside === undefined) throw new Error(route);
    // An upload is named by what it holds: nobody has this one.
    const fresh = new TextEncoder().encode(hex(20));
    const unknown = route.startsWith("PUT /api/v1/datasets") ? { ...beside, path: `/datasets/${await sha256Hex(fresh)}`, body: fresh } : beside;
    const names = { ...none, digest: unknown.path.split("/").at(-1) ?? "" };
    const [answer, expected] = [await seen(asked, own), await seen(unknown, route.startsWith("PUT /api/v1/datasets") ? names : none)];
    expect(answer, `seed ${seed}, request ${n}: ${asked.method} ${asked.path} ${JSON.stringify(asked.headers ?? {})}`).toEqual(expected);
    if (route.startsWith("PUT /api/v1/datasets")) await service.BUCKET.delete(`teams/acme/datasets/${theirs.digest}`);
    // Runs that are made here under an id of theirs are this team's, and would be found.
    if (route === "POST /api/v1/hosted-evaluations") await forgetOwn(own.run, none.run);
  }
  const after = await Promise.all(theirs.runs.map((id) => run(`quokkas/${id}`).view()));
  // Announcements that were on their way have arrived meanwhile.
  const facts = (views: typeof before) => views.map((view) => ({ ...view, updated_at: null }));
  expect(facts(after)).toEqual(facts(before));
}, 600_000);

async function forgetOwn(...ids: string[]): Promise<void> {
  for (const id of ids) {
    if ((await run(`acme/${id}`).view()) === null) continue;
    await door.call(ada, "POST", `/evaluations/${id}/interrupt`, {});
    await door.json(ada, "DELETE", `/evaluations/${id}`);
    for (let tries = 0; tries < 200 && (await door.status(ada, "GET", `/evaluations/${id}`)) !== 404; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
