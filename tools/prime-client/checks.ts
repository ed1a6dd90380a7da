/** What the `prime` command is asked to do, and what must come of it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { CallOptions, PrimeClient } from "./client.ts";
import { ENVIRONMENT_CHECKS } from "./environment-checks.ts";
import { type Check, idsIn, says } from "./expectations.ts";
import { PUSH_CHECKS } from "./push-checks.ts";
import { TEAM_CHECKS } from "./team-checks.ts";

const ENV = "edgewise/reverse-text";
const UNKNOWN = "00000000";
const ended = (status: string): boolean => status !== "PENDING" && status !== "RUNNING";

/** Starts a run and gives its id. */
async function started(client: PrimeClient, env: string, more: readonly string[] = [], options: CallOptions = {}): Promise<string> {
  const said = await client.run(env, more, options);
  says(said, 0, "Hosted evaluation started");
  const ids = idsIn(said);
  assert.equal(ids.length, 1, said.text);
  return ids[0] ?? "";
}

const settings = async (client: PrimeClient, id: string): Promise<Record<string, unknown>> =>
  (await client.ask(`/evaluations/${id}`)).eval_config as Record<string, unknown>;

const runChecks: readonly Check[] = [
  {
    name: "run",
    run: async (client) => {
      const id = await started(client, ENV, ["-n", "3", "-r", "2"]);
      assert.equal(await client.untilStatus(id, ended), "COMPLETED");
      const said = await client.run("edgewise/reverse-text@1.0.0", ["-n", "1", "-r", "1"]);
      says(said, 0, `View results: ${client.url}/dashboard/evaluations/${idsIn(said)[0]}`);
    },
  },
  {
    name: "run-follow",
    run: async (client) => {
      client.play({ latency_ms: 200 });
      const said = await client.run(ENV, ["-n", "8", "-r", "1", "-c", "2", "--follow", "--poll-interval", "0.3"]);
      says(said, 0, "Status: COMPLETED", "8 examples x 1 rollouts pinned", "Run COMPLETED");
      // Polled every 0.3 s, each line is there once.
      assert.equal(said.text.match(/pinned/g)?.length, 1, said.text);
    },
  },
  {
    name: "run-follow-failing",
    run: async (client) => {
      client.play({ models: ["another"] });
      const said = await client.run(ENV, ["-n", "1", "-r", "1", "--follow", "--poll-interval", "0.3"]);
      says(said, 1, "Status: FAILED", /scripted/);
    },
  },
  {
    name: "run-follow-interrupted",
    run: async (client) => {
      client.play({ latency_ms: 300 });
      const said = await client.run(ENV, ["-n", "10", "-r", "1", "-c", "1", "--follow", "--poll-interval", "0.3"], { interruptAt: "pinned" });
      says(said, 0);
      assert.equal(await client.untilStatus(idsIn(said)[0] ?? "", ended), "COMPLETED");
    },
  },
  {
    name: "run-bare-name",
    run: async (client) => {
      says(await client.run("reverse-text", ["-n", "1", "-r", "1"]), 0, "edgewise/reverse-text", "Hosted evaluation started");
      await started(client, "reverse-text", ["-n", "1", "-r", "1"], { env: { PRIME_TEAM_ID: "team-1" } });
    },
  },
  {
    name: "run-every-flag",
    run: async (client) => {
      const id = await started(client, ENV, [
        ...["-n", "2", "-r", "2", "-c", "3", "-t", "64", "-T", "0.5", "--max-retries", "1", "--timeout-minutes", "7"],
        ...["-S", '{"top_p": 0.9, "extra_body": {"top_k": 20}}', "-a", '{"min_words": 3, "max_words": 4}', "-C", "turn,model", "-i", "-v"],
        ...["-x", '{"timeout_seconds": 60}'],
        ...["--header", "X-Check: one, two: three", "--api-client-type", "openai_chat_completions", "-k", "CHECK_API_KEY", "--eval-name", "named é"],
        ...["--allow-sandbox-access", "--allow-instances-access", "--allow-tunnel-access"],
      ]);
      assert.equal(await client.untilStatus(id, ended), "COMPLETED");
      assert.equal((await client.ask(`/evaluations/${id}`)).name, "named é");
      const config = await settings(client, id);
      const wanted = {
        ...{ num_examples: 2, rollouts_per_example: 2, max_concurrent: 3, max_retries: 1, timeout_minutes: 7, independent_scoring: true },
        ...{ env_args: { min_words: 3, max_words: 4 }, state_columns: ["turn", "model"], api_key_var: "CHECK_API_KEY", api_base_url: client.model.url },
        extra_env_kwargs: { timeout_seconds: 60 },
        sampling_args: { max_tokens: 64, temperature: 0.5, top_p: 0.9, extra_body: { top_k: 20 } },
        ...{ allow_sandbox_access: true, allow_instances_access: true, allow_tunnel_access: true, api_client_type: "openai_chat_completions" },
      };
      for (const [name, value] of Object.entries(wanted)) assert.deepEqual(config[name], value, name);
    },
  },
  {
    name: "run-dataset",
    run: async (client) => {
      const rows = '{"text":"one two"}\n{"text":"three"}\n';
      const digest = createHash("sha256").update(rows).digest("hex");
      await client.ask(`/datasets/${digest}`, { method: "PUT", body: rows });
      const id = await started(client, ENV, ["-n", "-1", "-r", "1", "-a", JSON.stringify({ dataset: `sha256:${digest}` })]);
      assert.equal(await client.untilStatus(id, ended), "COMPLETED");
      assert.equal((await client.ask(`/evaluations/${id}`)).total_samples, 2);
    },
  },
  {
    name: "run-refused",
    run: async (client) => {
      const said = await client.run(ENV, ["--timeout-minutes", "0", "-m", "", "-a", "[1]"]);
      says(said, 1, "Hosted evaluation failed: ", "Validation failed", "eval_config.timeout_minutes", "inference_model", "eval_config.env_args");
      says(await client.run(ENV, ["--custom-secrets", '{"my_key": "sk-hidden"}']), 1, "eval_config.custom_secrets.my_key", /capitals/);
      says(await client.run(ENV, ["-k", "EDGEWISE_TOKEN"]), 1, "eval_config.api_key_var");
      says(await client.prime(["eval", "run", ENV]), 1);
    },
  },
  {
    name: "run-custom-secrets",
    run: async (client) => {
      const id = await started(client, ENV, ["-n", "1", "-r", "1", "--custom-secrets", '{"MY_KEY": "sk-hidden-and-hidden"}']);
      assert.equal(await client.untilStatus(id, ended), "COMPLETED");
      assert.doesNotMatch(JSON.stringify(await client.ask(`/evaluations/${id}`)), /hidden-and-hidden/);
    },
  },
  {
    name: "secrets",
    run: async (client) => {
      says(await client.prime(["secret", "create", "-n", "SEARCH_KEY", "-v", "sk-hidden-and-hidden", "-d", "for searching"]), 0, "Created", "SEARCH_KEY");
      const listed = await client.prime(["secret", "list", "-o", "json"]);
      says(listed, 0, "SEARCH_KEY");
      const [, id = ""] = /"id": "([0-9a-f]{12})"/.exec(listed.text) ?? [];
      says(await client.prime(["secret", "get", id]), 0, "SEARCH_KEY", "for searching");
      says(await client.prime(["secret", "update", id, "-d", "for finding"]), 0, "Updated secret");
      says(await client.prime(["env", "secret", "link", id, ENV, "--plain"]), 0, "SEARCH_KEY");
      says(await client.prime(["env", "secret", "create", ENV, "-n", "OWN_KEY", "-v", "sk-hidden-and-hidden"]), 0, "OWN_KEY");
      const own = await client.prime(["env", "secret", "list", ENV, "-o", "json"]);
      says(own, 0, "SEARCH_KEY", "OWN_KEY", "global", "environment");
      assert.doesNotMatch(listed.text + own.text, /hidden-and-hidden/);
      const [, ownId = ""] = /"id": "([0-9a-f]{12})",\s*"name": "OWN_KEY"/.exec(own.text) ?? [];
      says(await client.prime(["env", "secret", "update", ENV, "--id", ownId, "-v", "sk-another-hidden"]), 0, "Updated secret");
      says(await client.prime(["env", "secret", "delete", ENV, "--id", ownId, "-y"]), 0, "Deleted secret");
      says(await client.prime(["env", "secret", "unlink", id, ENV, "-y"]), 0, "Unlinked");
      says(await client.prime(["env", "var", "create", ENV, "-n", "REGION", "-v", "north"]), 0, "REGION");
      const variables = await client.prime(["env", "var", "list", ENV, "-o", "json"]);
      says(variables, 0, "REGION", "north");
      const [, variable = ""] = /"id": "([0-9a-f]{12})"/.exec(variables.text) ?? [];
      says(await client.prime(["env", "var", "update", variable, ENV, "-v", "south"]), 0, "REGION");
      says(await client.prime(["env", "var", "delete", variable, ENV, "-y"]), 0);
      says(await client.prime(["secret", "delete", id, "-y"]), 0, "Deleted secret");
      says(await client.prime(["secret", "get", id]), 1, "There is no such secret");
    },
  },
  {
    name: "run-missing-environment",
    run: async (client) => {
      says(await client.run("edgewise/nothing"), 1, "published to the platform");
      says(await client.run("nobody/reverse-text"), 1, "published to the platform");
      says(await client.run("nothing-of-that-name"), 1, "require an upstream environment");
    },
  },
];

const CONFIG = (modelUrl: string): string => `
model = "scripted"
api_base_url = "${modelUrl}"
num_examples = 1
rollouts_per_example = 1

[[eval]]
env_id = "edgewise/reverse-text"
allow_tunnel_access = false

[[eval]]
env_id = "edgewise/reverse-text"
num_examples = 2

[[ablation]]
env_id = "edgewise/reverse-text"
[ablation.sweep]
temperature = [0.0, 1.0]
[ablation.sweep.env_args]
min_words = [2, 3]
`;

/** Two targets with equal settings travel in one request. */
const SAME_TWICE = (modelUrl: string): string => `
model = "scripted"
api_base_url = "${modelUrl}"
num_examples = 1
rollouts_per_example = 1
[[eval]]
env_id = "edgewise/reverse-text"
[[eval]]
env_id = "edgewise/reverse-text"
`;

const configChecks: readonly Check[] = [
  {
    name: "config-ablation",
    run: async (client) => {
      const said = await client.prime(["eval", "run", client.write("evals.toml", CONFIG(client.model.url)), "--hosted"]);
      says(said, 0);
      const ids = [...new Set(said.text.match(/\b[0-9a-f]{8}\b/g) ?? [])];
      assert.equal(ids.length, 6, said.text);
      for (const id of ids) assert.equal(await client.untilStatus(id, ended), "COMPLETED");
      const configs = await Promise.all(ids.map((id) => settings(client, id)));
      assert.deepEqual(
        configs.map(({ num_examples, allow_tunnel_access }) => [num_examples, allow_tunnel_access]),
        [[1, false], [2, true], ...Array.from({ length: 4 }, () => [1, true])],
      );
      assert.equal(new Set(configs.slice(2).map(({ sampling_args, env_args }) => JSON.stringify([sampling_args, env_args]))).size, 4);
    },
  },
  {
    name: "config-two-in-one-request",
    run: async (client) => {
      const said = await client.prime(["eval", "run", client.write("same.toml", SAME_TWICE(client.model.url)), "--hosted"]);
      says(said, 0);
      assert.equal(new Set(said.text.match(/\b[0-9a-f]{8}\b/g) ?? []).size, 2, said.text);
    },
  },
  {
    name: "config-follow-of-several",
    run: async (client) => {
      const said = await client.prime(["eval", "run", client.write("evals.toml", CONFIG(client.model.url)), "--hosted", "--follow"]);
      says(said, 1, /follow/);
    },
  },
];

/** A message in the log that the client would take for markup, and crash over. */
const MARKUP = '[/foo] :smile: [red]x[/red] [link=https://example.org]y[/link] [INFO] [1/2] {"a":[1]}';

const readChecks: readonly Check[] = [
  {
    name: "list",
    run: async (client) => {
      const ids = [await started(client, ENV, ["-n", "1", "-r", "1"]), await started(client, ENV, ["-n", "1", "-r", "2", "--eval-name", "second"])];
      for (const id of ids) await client.untilStatus(id, ended);
      says(await client.prime(["eval", "list"]), 0, ...ids, "reverse-text", "scripted", "COMPLETED", "HOSTED");
      const page = await client.prime(["eval", "list", "-n", "1", "-p", "2", "-o", "json"]);
      const listed = JSON.parse(page.text) as { evaluations: { evaluation_id: string }[]; total: number };
      assert.equal(listed.evaluations[0]?.evaluation_id, ids[0]);
      assert.ok(listed.total >= 2);
      says(await client.prime(["eval", "list", "-n", "1"]), 0, /-p(age)? 2|--page 2|more/i);
      for (const name of ["reverse-text", ENV]) says(await client.prime(["eval", "list", "-e", name]), 0, ...ids);
      says(await client.prime(["eval", "list", "-e", "gsm8k"]), 0, "No evaluations found");
      says(await client.prime(["eval", "list", "-p", "99"]), 0, "No more results");
      says(await client.prime(["eval", "list"], { env: { PRIME_TEAM_ID: "team-1" } }), 0);
      says(await client.prime(["eval", "list", "-n", "100000"]), 1, "limit");
    },
  },
  {
    name: "get",
    run: async (client) => {
      const id = await started(client, ENV, ["-n", "2", "-r", "1"]);
      await client.untilStatus(id, ended);
      const got = JSON.parse((await client.prime(["eval", "get", id])).text) as Record<string, unknown>;
      assert.deepEqual([got.evaluation_id, got.status, got.total_samples, got.is_hosted], [id, "COMPLETED", 2, true]);
      says(await client.prime(["eval", "get", id, "-o", "pretty"]), 0, id, "COMPLETED");
      says(await client.prime(["eval", "get", UNKNOWN]), 1, "404");
      says(await client.prime(["eval", "get", "not-an-id"]), 1);
    },
  },
  {
    name: "samples",
    run: async (client) => {
      const id = await started(client, ENV, ["-n", "5", "-r", "2"]);
      await client.untilStatus(id, ended);
      const page = async (...args: string[]) => JSON.parse((await client.prime(["eval", "samples", id, ...args])).text) as Record<string, unknown>;
      const all = await page();
      const samples = all.samples as { example_id: number; reward: number }[];
      assert.deepEqual([all.total, all.page, all.limit, all.has_more], [10, 1, 100, false]);
      assert.deepEqual(
        samples.map(({ example_id }) => example_id),
        [0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
      );
      assert.deepEqual((await page("-n", "4", "-p", "3")).samples, samples.slice(8));
      assert.equal((await page("-n", "4", "-p", "2")).has_more, true);
      assert.deepEqual((await page("-p", "9")).samples, []);
      says(await client.prime(["eval", "samples", UNKNOWN]), 1, "404");
    },
  },
  {
    name: "samples-of-a-running-run",
    run: async (client) => {
      client.play({ latency_ms: 400 });
      const id = await started(client, ENV, ["-n", "200", "-r", "1", "-c", "2"]);
      await client.untilStatus(id, (status) => status === "RUNNING");
      for (let total = 0; total < 5; ) total = Number((JSON.parse((await client.prime(["eval", "samples", id, "-n", "3"])).text) as { total: number }).total);
      assert.equal((await client.ask(`/evaluations/${id}`)).status, "RUNNING");
      says(await client.prime(["eval", "stop", id]), 0);
    },
  },
  {
    name: "logs",
    run: async (client) => {
      const id = await started(client, ENV, ["-n", "1", "-r", "1"]);
      await client.untilStatus(id, ended);
      says(await client.prime(["eval", "logs", id]), 0, "Run COMPLETED", "Status: COMPLETED");
      const last = await client.prime(["eval", "logs", id, "-n", "1"]);
      says(last, 0, "Results written");
      assert.ok(!last.text.includes("pinned"), last.text);
      says(await client.prime(["eval", "logs", id, "-f", "--poll-interval", "0.3"]), 0, "Status: COMPLETED");
      says(await client.prime(["eval", "logs", UNKNOWN]), 1, "404");
      says(await client.prime(["eval", "logs", UNKNOWN, "-f"]), 1, "not found");
    },
  },
  {
    name: "logs-with-markup",
    run: async (client) => {
      client.play({ faults: [{ fault: { kind: "status", status: 400, message: MARKUP } }] });
      const id = await started(client, ENV, ["-n", "1", "-r", "1"]);
      assert.equal(await client.untilStatus(id, ended), "FAILED");
      for (const flags of [[], ["-f", "--poll-interval", "0.3"]]) {
        const { code, text } = await client.prime(["eval", "logs", id, ...flags]);
        // Held apart by a character that is shown as nothing.
        says({ code, text: text.replaceAll("\u200c", "") }, flags.length === 0 ? 0 : 1, MARKUP);
      }
    },
  },
  {
    name: "stop",
    run: async (client) => {
      client.play({ latency_ms: 300 });
      const id = await started(client, ENV, ["-n", "200", "-r", "1", "-c", "2"]);
      await client.untilStatus(id, (status) => status === "RUNNING");
      says(await client.prime(["eval", "stop", id]), 0, /cancelled/i, `/dashboard/evaluations/${id}`);
      assert.equal((await client.ask(`/evaluations/${id}`)).status, "CANCELLED");
      says(await client.prime(["eval", "logs", id, "-f", "--poll-interval", "0.3"]), 1, "Status: CANCELLED");
      says(await client.prime(["eval", "stop", id]), 0);
      says(await client.prime(["eval", "stop", UNKNOWN]), 1, "404");
    },
  },
];

const accessChecks: readonly Check[] = [
  {
    name: "wrong-key",
    run: async (client) => {
      const key = "wrong-key";
      says(await client.run(ENV, [], { key }), 1, "unauthorized");
      // The client swallows the refusal of a bare name's lookup.
      says(await client.run("reverse-text", [], { key }), 1, "require an upstream environment");
      for (const command of ["get", "samples", "logs", "stop"]) says(await client.prime(["eval", command, UNKNOWN], { key }), 1, "unauthorized");
      says(await client.prime(["eval", "list"], { key }), 1, "unauthorized");
    },
  },
  { name: "whoami", run: async (client) => says(await client.prime(["whoami"]), 0, "edgewise") },
  { name: "environment-info", run: async (client) => says(await client.prime(["env", "info", ENV]), 0, "reverse-text") },
  {
    name: "dashboard",
    run: async (client) => {
      const id = await started(client, ENV, ["-n", "1", "-r", "1"]);
      const led = await fetch(`${client.url}/dashboard/evaluations/${id}`, { headers: { accept: "text/html" } });
      assert.equal(led.status, 401);
      assert.match(await led.text(), /sign-in\?to=/);
      const page = await client.browse(`/dashboard/evaluations/${id}`);
      assert.equal(page.status, 200);
      assert.match(await page.text(), new RegExp(`<html[^]*${id}`));
    },
  },
];

export const CHECKS: readonly Check[] = [...runChecks, ...configChecks, ...readChecks, ...accessChecks, ...ENVIRONMENT_CHECKS, ...TEAM_CHECKS, ...PUSH_CHECKS];
