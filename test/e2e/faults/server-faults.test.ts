import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { clock } from "../../support/cli/local-stack.ts";
import type { ScriptInput } from "../../support/model-server/model-script.ts";
import type { JsonRow } from "../../support/results/results-check.ts";

type Rule = NonNullable<ScriptInput["faults"]>[number];
type Fault = Rule["fault"];

const codeOf = ({ error }: JsonRow): string | null => (error as { code: string } | null)?.code ?? null;

/** What a server may do to a request, by a word in the prompt; and what becomes of the rollout when it does so every time. */
const FAULTS: Readonly<Record<string, { readonly fault: Fault; readonly code: string | null; readonly calls: number }>> = {
  internal: { fault: { kind: "status", status: 500 }, code: "provider_error", calls: 11 },
  unavailable: { fault: { kind: "status", status: 503 }, code: "provider_error", calls: 11 },
  slowly: { fault: { kind: "status", status: 408 }, code: "provider_error", calls: 11 },
  conflict: { fault: { kind: "status", status: 409 }, code: "provider_conflict", calls: 11 },
  limited: { fault: { kind: "rate_limited" }, code: "rate_limited", calls: 11 },
  hangup: { fault: { kind: "close_before_headers" }, code: "connection_failed", calls: 11 },
  halfway: { fault: { kind: "close_mid_body" }, code: "connection_cut", calls: 11 },
  malformed: { fault: { kind: "malformed_json" }, code: "malformed_response", calls: 1 },
  choiceless: { fault: { kind: "empty_choices" }, code: "invalid_response", calls: 1 },
  twofold: { fault: { kind: "two_choices" }, code: "invalid_response", calls: 1 },
  wordless: { fault: { kind: "null_content" }, code: "empty_response", calls: 1 },
  refused: { fault: { kind: "status", status: 422 }, code: "bad_request", calls: 1 },
  overlong: { fault: { kind: "context_length" }, code: null, calls: 1 },
  truncated: { fault: { kind: "truncated" }, code: null, calls: 1 },
};
const RETRIED = Object.entries(FAULTS).filter(([, { calls }]) => calls > 1);

// The slow ones first: they wait for most of their time, for retries to run out and for a minute to pass, and the others run meanwhile.
describe.concurrent("a model server that misbehaves", () => {
  it(
    "every time: the right code on the row, ten retries where they may help, and the run ends",
    // Those that are always refused have nobody beside them in the end: then a request is sent every 15 s.
    { timeout: 240_000 },
    inPlace({ faults: Object.entries(FAULTS).map(([word, { fault }]) => ({ when: { contains: word }, fault })) }, async (bench) => {
      const { place, model } = bench;
      const words = [...Object.keys(FAULTS), "fine"];
      writeFileSync(join(place.folder, "rows.jsonl"), words.map((word) => `${JSON.stringify({ text: `the word is ${word}` })}\n`).join(""));
      // By its own retries: the last two that are left have nobody beside them who is answered.
      const { code, stderr, stdout } = await place.run(bench.reverse("-n", "-1", "-r", "1", "-a", '{"dataset":"rows.jsonl"}'), {
        OUTAGE_MS: "0",
        STORM_MS: "0",
      });
      expect(code, stderr).toBe(3);
      expect(bench.rows.map((row, at) => [words[at], codeOf(row)])).toEqual(words.map((word) => [word, FAULTS[word]?.code ?? null]));
      const calls = new Map(model.ledger.calls().map(({ prompt, count }) => [prompt.replace("the word is ", ""), count]));
      expect(Object.fromEntries(calls)).toEqual(Object.fromEntries(words.map((word) => [word, FAULTS[word]?.calls ?? 1])));
      for (const row of bench.rows.filter(({ error }) => error !== null)) {
        expect(Object.keys(row.error as object)).toEqual(["error", "error_chain_repr", "error_chain_str", "code"]);
        expect(row).toMatchObject({ reward: 0, stop_condition: "has_error", is_completed: true });
      }
      expect(bench.rows.find(({ answer }) => String(answer).includes("gnolrevo"))).toMatchObject({
        stop_condition: "prompt_too_long",
        is_truncated: true,
        error: null,
      });
      // Each kind is told once, when it happens.
      for (const { code } of Object.values(FAULTS)) if (code !== null) expect(stderr.match(new RegExp(`First ${code}: `, "g")), code).toHaveLength(1);
      expect(stdout).toContain("errored rollouts: 0.800 (12 of 15)");
      // The refused request is the model's own affair.
      expect(stdout.trim().split("\n").at(-1)).toMatch(
        /^11 of 15 rollouts ended in errors of the infrastructure \(provider_error 3, .*\); this makes them again: npx edgewise eval run reverse-text -R outputs\/evals\/\S+$/,
      );
    }),
  );

  it(
    "by being down for a moment: nothing is lost, and going and coming are told",
    { timeout: 60_000 },
    inPlace({ latency_ms: 50 }, async (bench) => {
      const { place, model } = bench;
      const cli = place.start(bench.reverse("-n", "60", "-r", "2", "-c", "8"));
      await until(() => model.ledger.stats().total >= 40, 30_000);
      await model.goDown();
      await cli.says(/warning: http.*\/v1 answers nobody \(connection_(failed|cut)\); one request at a time asks again, for up to 120 s/, 30_000);
      await model.comeUp();
      expect(await cli.ended, cli.stderr()).toBe(0);
      expect(cli.stderr()).toMatch(/warning: http.*\/v1 answers again, after \d+ s/);
      expect(bench.rows.map(codeOf)).toEqual(Array(120).fill(null));
      expect(bench.metadata).toMatchObject({ avg_reward: 1, avg_error: 0, edgewise: { status: "COMPLETED" } });
    }),
  );

  it(
    "by being gone before it ever answered: the run ends after a row per lane, and a resume does all of it",
    { timeout: 60_000 },
    inPlace({ latency_ms: 5 }, async (bench) => {
      const { place, model } = bench;
      await model.goDown();
      const { code, stderr } = await place.run(bench.reverse("-n", "60", "-r", "1", "-c", "4", "--no-preflight"), { OUTAGE_MS: "2000" });
      expect(code).toBe(1);
      expect(stderr).toContain("ended FAILED: No connection to http");
      expect(bench.metadata).toMatchObject({ edgewise: { status: "FAILED" } });
      expect(bench.rows.length).toBeLessThan(30);
      await model.comeUp();
      const again = await place.run(["eval", "run", "reverse-text", "-R", place.results]);
      expect(again.code, again.stderr).toBe(0);
      expect(model.ledger.stats().total).toBe(60);
      expect(bench.rows.map(codeOf)).toEqual(Array(60).fill(null));
    }),
  );

  it(
    "by being down for longer than it is waited for: what could not wait ends in an error, and a resume runs that again and nothing else",
    { timeout: 170_000 },
    inPlace({ latency_ms: 50 }, async (bench) => {
      const { place, model } = bench;
      const cli = place.start(bench.reverse("-n", "60", "-r", "2", "-c", "8"), { OUTAGE_MS: "3000" });
      await until(() => model.ledger.stats().total >= 40, 30_000);
      await model.goDown();
      await cli.says(/First connection_(failed|cut): /, 90_000);
      await model.comeUp();
      expect(await cli.ended, cli.stderr()).toBe(3);
      expect(keysOfRows(bench.rows)).toEqual(grid(60, 2));
      const errored = bench.rows.filter(({ error }) => error !== null);
      expect(errored.length).toBeGreaterThan(0);
      expect(errored.length).toBeLessThan(60);
      for (const row of errored) expect(codeOf(row)).toMatch(/^connection_(failed|cut)$/);
      expect(bench.metadata).toMatchObject({ edgewise: { errored_rollouts: errored.length } });

      const good = new Map(bench.rows.filter(({ error }) => error === null).map((row) => [`${row.example_id}/${row.rollout_index}`, row]));
      const before = model.ledger.stats().total;
      const again = await place.run(["eval", "run", "reverse-text", "-R", place.results]);
      expect(again.code, again.stderr).toBe(0);
      expect(again.stderr).toContain(`goes on (${errored.length} rollouts to do)`);
      expect(model.ledger.stats().total - before).toBe(errored.length);
      expect(keysOfRows(bench.rows)).toEqual(grid(60, 2));
      expect(bench.rows.map(codeOf)).toEqual(Array(120).fill(null));
      for (const row of bench.rows) expect(good.get(`${row.example_id}/${row.rollout_index}`) ?? row).toEqual(row);
      expect(bench.metadata).toMatchObject({ avg_reward: 1, avg_error: 0, edgewise: { errored_rollouts: 0, status: "COMPLETED" } });
    }),
  );

  it(
    "by never answering: the time limit ends the run, what is finished is kept, and a resume goes on",
    { timeout: 150_000 },
    inPlace({ faults: [{ when: { nth: [3, 4] }, fault: { kind: "never" } }] }, async (bench) => {
      const { place, model } = bench;
      const started = clock();
      const { code, stderr } = await place.run(bench.reverse("-n", "6", "-r", "1", "--timeout-minutes", "1"));
      expect(code).toBe(1);
      expect(clock() - started).toBeGreaterThan(59_000);
      expect(stderr).toMatch(/TIMEOUT: The run reached its time limit of 1 minutes?/);
      expect(bench.rows).toHaveLength(4);
      expect(bench.rows.map(codeOf)).toEqual(Array(4).fill(null));
      expect(bench.metadata).toMatchObject({ edgewise: { status: "TIMEOUT" } });
      expect(model.ledger.stats()).toMatchObject({ in_flight: 0, outcomes: { answered: 4, aborted: 2 } });
      expect((await place.run(bench.reverse("-n", "6", "-r", "1", "--timeout-minutes", "1", "-R"))).code).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(6, 1));
      expect(model.ledger.stats().total).toBe(8);
    }),
  );
  it(
    "by saying nothing within --timeout: an error that a resume mends; a model that writes has its outcome, and that is marked",
    { timeout: 60_000 },
    inPlace(
      {
        faults: [
          { when: { contains: "silent" }, fault: { kind: "never" } },
          { when: { contains: "writing" }, fault: { kind: "slow_body", ms: 50_000 } },
        ],
      },
      async (bench) => {
        const { place, model } = bench;
        const words = ["fine", "silent", "writing", "well"];
        writeFileSync(join(place.folder, "rows.jsonl"), words.map((word) => `${JSON.stringify({ text: `the word is ${word}` })}\n`).join(""));
        const { code, stderr, stdout } = await place.run(bench.reverse("-n", "-1", "-r", "1", "-a", '{"dataset":"rows.jsonl"}', "--timeout", "3"));
        expect(code, stderr).toBe(3);
        expect(stdout.trim().split("\n").at(-1)).toMatch(
          /^1 of 4 rollouts ended in an error of the infrastructure \(timeout 1\); this makes it again: npx edgewise eval run /,
        );
        expect(bench.rows.map((row) => [codeOf(row), row.stop_condition])).toEqual([
          [null, "max_turns_reached"],
          ["timeout", "has_error"],
          [null, "timeout_reached"],
          [null, "max_turns_reached"],
        ]);
        expect(bench.metadata).toMatchObject({ avg_error: 0.25, edgewise: { errored_rollouts: 1 } });

        model.setScript({});
        const before = model.ledger.stats().outcomes.answered ?? 0;
        const again = await place.run(["eval", "run", "reverse-text", "-R", place.results]);
        expect(again.code, again.stderr).toBe(0);
        expect(again.stderr).toContain("goes on (1 rollouts to do)");
        expect((model.ledger.stats().outcomes.answered ?? 0) - before).toBe(1);
        expect(bench.rows.map(({ stop_condition }) => stop_condition)).toEqual([
          "max_turns_reached",
          "max_turns_reached",
          "timeout_reached",
          "max_turns_reached",
        ]);
      },
    ),
  );

  it(
    "at first: a success after the retry, without a trace in the rows",
    { timeout: 60_000 },
    inPlace({ faults: RETRIED.map(([word, { fault }]) => ({ when: { contains: word, attempt: 1 }, fault })) }, async (bench) => {
      writeFileSync(join(bench.place.folder, "rows.jsonl"), RETRIED.map(([word]) => `${JSON.stringify({ text: `the word is ${word}` })}\n`).join(""));
      const { code, stderr } = await bench.place.run(bench.reverse("-n", "-1", "-r", "2", "-a", '{"dataset":"rows.jsonl"}'));
      expect(code, stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(RETRIED.length, 2));
      expect(bench.rows.map(codeOf)).toEqual(Array(RETRIED.length * 2).fill(null));
      expect(bench.metadata).toMatchObject({ avg_reward: 1, avg_error: 0 });
      expect(bench.model.ledger.stats().total).toBe(RETRIED.length * 3);
    }),
  );

  it(
    "with an answer it cannot be, twice: a success with --max-retries 2, and no row of the attempts before",
    { timeout: 60_000 },
    inPlace(
      {
        faults: [
          { when: { attempt: 1 }, fault: { kind: "malformed_json" } },
          { when: { attempt: 2 }, fault: { kind: "empty_choices" } },
        ],
      },
      async (bench) => {
        const { code, stderr } = await bench.place.run(bench.reverse("-n", "4", "-r", "1", "--max-retries", "2"));
        expect(code, stderr).toBe(0);
        expect(bench.metadata).toMatchObject({ avg_reward: 1, avg_error: 0 });
        expect(bench.model.ledger.stats().total).toBe(12);
      },
    ),
  );

  it(
    "with nothing but useless answers: the run FAILED, and its rows are kept",
    { timeout: 60_000 },
    inPlace({ faults: [{ fault: { kind: "empty_choices" } }] }, async (bench) => {
      const { code, stderr, stdout } = await bench.place.run(bench.reverse("-n", "4", "-r", "2"));
      expect(code).toBe(1);
      expect(stderr).toContain("FAILED: Every rollout ended in an error: invalid_response (8).");
      // There is no score where nothing was scored.
      expect(stdout).toContain("reward: none (every rollout ended in an error)");
      expect(stdout).not.toMatch(/reward: avg|interval|reward distribution|pass@k/);
      expect(stdout).toContain("8 of 8 rollouts ended in errors of the infrastructure (invalid_response 8); this makes them again: npx edgewise");
      expect(keysOfRows(bench.rows)).toEqual(grid(4, 2));
      expect(bench.metadata).toMatchObject({ avg_error: 1, edgewise: { status: "FAILED" } });
    }),
  );

  it(
    "to one of two evaluations: the last line names it and the command that mends it, and the code says so",
    { timeout: 60_000 },
    inPlace({ faults: [{ when: { nth: 1 }, fault: { kind: "empty_choices" } }] }, async (bench) => {
      const toml = `model = "scripted"\napi_base_url = "${bench.model.url}"\nmax_concurrent_total = 1\nrollouts_per_example = 1\n`;
      const evals = [2, 3].map((count) => `[[eval]]\nenv_id = "reverse-text"\nnum_examples = ${count}\n`).join("\n");
      writeFileSync(join(bench.place.folder, "two.toml"), `${toml}\n${evals}`);
      const { code, stdout, stderr } = await bench.place.run(["eval", "run", "two.toml", "--no-preflight"]);
      expect(code, stderr).toBe(3);
      const owed = stdout.split("\n").filter((line) => line.includes("of the infrastructure"));
      expect(owed).toEqual([
        expect.stringMatching(
          /: 1 of [23] rollouts ended in an error of the infrastructure \(invalid_response 1\); this makes it again: npx edgewise eval run reverse-text -R \S+$/,
        ),
      ]);
      expect(stdout.trim().split("\n").at(-1)).toBe(owed[0]);
    }),
  );

  it(
    "with 429 and Retry-After: every lane waits, the terminal says until when, and nothing is lost",
    { timeout: 60_000 },
    inPlace({ latency_ms: 50, faults: [{ when: { nth: 30 }, fault: { kind: "rate_limited", retry_after_s: 7 } }] }, async (bench) => {
      const { code, stderr } = await bench.place.run(bench.reverse("-n", "60", "-r", "2", "-c", "8"));
      expect(code, stderr).toBe(0);
      const entries = bench.model.ledger.entries();
      const refusedAt = entries.find(({ outcome }) => outcome === "rate_limited")?.end_ms ?? Number.NaN;
      // A second for the answer to arrive; then nobody asks until the seven are over.
      expect(entries.filter(({ start_ms }) => start_ms > refusedAt + 1000 && start_ms < refusedAt + 6900)).toEqual([]);
      expect(entries.filter(({ start_ms }) => start_ms >= refusedAt + 6900).length).toBeGreaterThan(60);
      expect(stderr).toMatch(/warning: First rate_limited, trying again in 7\.0 s/);
      expect(stderr).toMatch(/1 retry · [89] requests wait for the rate limit until \d\d:\d\d:\d\d/);
      expect(bench.metadata).toMatchObject({ avg_reward: 1, avg_error: 0 });
      expect(bench.model.ledger.stats()).toMatchObject({ total: 121, peak_in_flight: 8 });
    }),
  );
});

describe.concurrent("a refusal that every further request would meet", () => {
  const REFUSALS: Readonly<Record<string, ScriptInput>> = {
    "a wrong key (401)": { api_key: "right" },
    "a forbidden key (403)": { faults: [{ fault: { kind: "status", status: 403 } }] },
    "an unpaid bill (402)": { faults: [{ fault: { kind: "status", status: 402 } }] },
    "a used-up quota (429 insufficient_quota)": { faults: [{ fault: { kind: "insufficient_quota" } }] },
    "an unknown model (404)": { models: ["other"] },
  };
  for (const [name, script] of Object.entries(REFUSALS)) {
    it(
      `${name} ends the run FAILED, naming key variable, address and model, and can be resumed when it is mended`,
      { timeout: 60_000 },
      inPlace({ latency_ms: 20, ...script }, async (bench) => {
        const { place, model } = bench;
        const keys = { MY_MODEL_KEY: "sk-not-the-right-one" };
        const failed = await place.run(bench.reverse("-n", "40", "-r", "2", "-c", "4", "-k", "MY_MODEL_KEY", "--no-preflight"), keys);
        expect(failed.code).toBe(1);
        expect(failed.stderr).toMatch(/error: run [0-9a-f]{8} ended FAILED: /);
        for (const named of ["MY_MODEL_KEY", model.url, "scripted"]) expect(failed.stderr).toContain(named);
        expect(failed.stdout + failed.stderr).not.toContain(keys.MY_MODEL_KEY);
        // Nobody goes on asking: the requests that were open, and those that took their place before the answer was known.
        expect(model.ledger.stats().total).toBeLessThanOrEqual(8);
        expect(bench.rows).toEqual([]);
        expect(bench.metadata).toMatchObject({ edgewise: { status: "FAILED" } });
        const id = String(bench.metadata.edgewise.run_id);

        model.setScript({});
        const before = model.ledger.stats().total;
        const mended = await place.run(["eval", "run", "reverse-text", "-k", "MY_MODEL_KEY", "-R", place.results], { MY_MODEL_KEY: "right" });
        expect(mended.code, mended.stderr).toBe(0);
        expect(mended.stderr).toContain(`Run ${id} goes on (80 rollouts to do)`);
        expect(model.ledger.stats().total - before).toBe(80);
      }),
    );
  }
});
