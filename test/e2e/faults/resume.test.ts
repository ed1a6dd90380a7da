import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { type Bench, grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { type JsonRow, jsonRows, readText } from "../../support/results/results-check.ts";

const LONG = { timeout: 90_000 };
const again = (...more: readonly string[]): string[] => ["eval", "run", "reverse-text", ...more];
const codeOf = ({ error }: JsonRow): string | null => (error as { code?: string } | null)?.code ?? null;
const calls = (bench: Bench): number => bench.model.ledger.stats().total;

/** Ends a run by Ctrl-C when so many requests have been made. */
async function interruptedAfter(bench: Bench, requests: number, args: readonly string[]): Promise<void> {
  const before = calls(bench);
  const cli = bench.place.start(args);
  await until(
    () => calls(bench) >= before + requests,
    20_000,
    () => `${requests} requests of:\n${cli.stdout()}${cli.stderr()}`,
  );
  cli.interrupt();
  expect(await cli.ended, cli.stderr()).toBe(130);
}

/** What the folder held before is there unchanged. */
function expectKept(before: readonly JsonRow[], after: readonly JsonRow[]): void {
  const rows = new Map(after.map((row) => [`${row.example_id}/${row.rollout_index}`, row]));
  for (const row of before) expect(rows.get(`${row.example_id}/${row.rollout_index}`)).toEqual(row);
}

describe.concurrent("a finished run", () => {
  it(
    "with nothing owed: its report, code 0, and no request, even with the model server gone and no state left",
    LONG,
    inPlace({ accuracy: 0.5 }, async (bench) => {
      const { place, model } = bench;
      const first = await place.run(bench.reverse("-n", "6", "-r", "2"));
      const files = ["results.jsonl", "metadata.json", "eval.log"].map((name) => readText(place.results, name));
      await model.close();
      const report = (text: string): string => text.slice(0, text.indexOf("Results: "));
      // What was done before took no time of this command.
      const withoutTime = report(first.stdout).replace(/^time: .*\n/m, "");
      expect(withoutTime).not.toBe(report(first.stdout));
      const known = await place.run(again("-R", place.results));
      expect(known).toMatchObject({ code: 0, stderr: expect.stringContaining("has nothing left to do") });
      expect(report(known.stdout)).toBe(withoutTime);
      expect(["results.jsonl", "metadata.json", "eval.log"].map((name) => readText(place.results, name))).toEqual(files);
      rmSync(place.state, { recursive: true });
      const alone = await place.run(again("-R", place.results));
      expect(alone.code, alone.stderr).toBe(0);
      expect(report(alone.stdout)).toBe(withoutTime);
      expect(jsonRows(files[0] ?? "")).toEqual(bench.rows);
    }),
  );

  it(
    "grows: only the new examples are asked for, and the old rows stay as they are",
    LONG,
    inPlace({ accuracy: 0.5 }, async (bench) => {
      await bench.place.run(bench.reverse("-n", "4", "-r", "2"));
      const before = bench.rows;
      const grown = await bench.place.run(again("-R", bench.place.results, "-n", "9"));
      expect(grown.code, grown.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(9, 2));
      expectKept(before, bench.rows);
      expect(bench.metadata).toMatchObject({ num_examples: 9, edgewise: { status: "COMPLETED" } });
      // The same number, and a smaller one than there is.
      expect((await bench.place.run(again("-R", bench.place.results, "-n", "9"))).code).toBe(0);
      expect((await bench.place.run(again("-R", bench.place.results, "-n", "8"))).stderr).toContain(
        "num_examples: the run has 9, this command 8; a run can only grow",
      );
      // Without its state, from the folder alone.
      rmSync(bench.place.state, { recursive: true });
      const alone = await bench.place.run(again("-R", bench.place.results, "-n", "12"));
      expect(alone.code, alone.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(12, 2));
      expectKept(before, bench.rows);
      expect(calls(bench)).toBe(24);
    }),
  );

  it(
    "is repaired: the rollouts of infrastructure errors run again, one by one; --keep-errors leaves them",
    LONG,
    inPlace(
      {
        faults: [
          { when: { nth: [2, 7, 8] }, fault: { kind: "empty_content" } },
          { when: { nth: 4 }, fault: { kind: "status", status: 422 } },
        ],
      },
      async (bench) => {
        const { place } = bench;
        await place.run(bench.reverse("-n", "5", "-r", "3", "-c", "1"));
        const before = bench.rows;
        expect(before.filter((row) => codeOf(row) === "empty_response")).toHaveLength(3);
        const kept = await place.run(again("-R", place.results, "--keep-errors"));
        expect(kept).toMatchObject({ code: 0, stderr: expect.stringContaining("has nothing left to do") });
        expect(calls(bench)).toBe(15);
        const grown = await place.run(again("-R", place.results, "--keep-errors", "-n", "6"));
        expect(grown.code, grown.stderr).toBe(0);
        expectKept(before, bench.rows);
        expect(calls(bench)).toBe(18);
        const repaired = await place.run(again("-R", place.results));
        expect(repaired).toMatchObject({ code: 0, stderr: expect.stringContaining("goes on (3 rollouts to do)") });
        expect(calls(bench)).toBe(21);
        expect(keysOfRows(bench.rows)).toEqual(grid(6, 3));
        // A refusal of the request itself is the model's outcome, and is not drawn again.
        expect(bench.rows.filter(({ error }) => error !== null).map(codeOf)).toEqual(["bad_request"]);
        expectKept(
          before.filter((row) => codeOf(row) !== "empty_response"),
          bench.rows,
        );
        expect(bench.metadata).toMatchObject({ avg_reward: 17 / 18, avg_error: 1 / 18, edgewise: { errored_rollouts: 1 } });
        expect((await place.run(again("-R", place.results))).stderr).toContain("has nothing left to do");
      },
    ),
  );
});

describe.concurrent("another evaluation is refused, naming every field with both values", () => {
  const OTHERS = ["-m", "other", "-r", "3", "-T", "0.5", "-a", '{"seed": 7}'];
  const DIFFERENCES = [
    /model: the run has "scripted", this command "other"/,
    /rollouts_per_example: the run has 2, this command 3/,
    /sampling_args: the run has \{.*\}, this command \{.*"temperature":0\.5.*\}/,
    /env_args: the run has \{\}, this command \{"seed":7\}/,
  ];

  it(
    "when the service knows the run, and when only its folder is left; another address only warns",
    LONG,
    inPlace({}, async (bench) => {
      const { place, model } = bench;
      await place.run(bench.reverse("-n", "3", "-r", "2"));
      const files = readText(place.results, "results.jsonl");
      const known = await place.run(again("-R", place.results, ...OTHERS));
      expect(known.code).not.toBe(0);
      for (const difference of DIFFERENCES) expect(known.stderr).toMatch(difference);
      const elsewhere = ["-b", `${model.controlUrl.replace("127.0.0.1", "localhost")}/v1`];
      const moved = await place.run(again("-R", place.results, ...elsewhere, "-n", "4"));
      expect(moved).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/warning: base_url changes from \S+127\.0\.0\.1\S+ to \S+localhost\S+; earlier rollouts/),
      });
      rmSync(place.state, { recursive: true });
      const alone = await place.run(again("-R", place.results, ...OTHERS));
      expect(alone.code).not.toBe(0);
      for (const difference of DIFFERENCES) expect(alone.stderr).toMatch(difference);
      const back = await place.run(again("-R", place.results, "-b", model.url, "-n", "5"));
      expect(back).toMatchObject({ code: 0, stderr: expect.stringMatching(/warning: base_url changes from \S+localhost\S+ to \S+127\.0\.0\.1\S+;/) });
      expect(keysOfRows(bench.rows)).toEqual(grid(5, 2));
      expect(readText(place.results, "results.jsonl").startsWith(files)).toBe(true);
      expect(calls(bench)).toBe(10);
    }),
  );

  it(
    "when the data set has changed under its name, and when its first rows are others",
    LONG,
    inPlace({}, async (bench) => {
      const { place } = bench;
      const write = (texts: readonly string[]): void =>
        writeFileSync(join(place.folder, "rows.jsonl"), texts.map((text) => `${JSON.stringify({ text })}\n`).join(""));
      const dataset = ["-a", '{"dataset":"rows.jsonl"}'];
      write(["one", "two", "three"]);
      await place.run(bench.reverse("-n", "2", "-r", "1", ...dataset));
      write(["one", "TWO", "three"]);
      const changed = await place.run(again("-R", place.results, "-n", "3", ...dataset));
      expect(changed.code).not.toBe(0);
      expect(changed.stderr).toMatch(/env_args: the run has \{"dataset":"sha256:[0-9a-f]{64}"\}, this command \{"dataset":"sha256:[0-9a-f]{64}"\}/);
      // The state is gone, and with it the upload: the file must be named again, and must be the same.
      rmSync(place.state, { recursive: true });
      const missing = await place.run(again("-R", place.results, "-n", "3"));
      expect(missing).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/the data set of this run \(sha256:[0-9a-f]{12}…\) is not in the service any more/),
      });
      write(["one", "two", "three"]);
      const same = await place.run(again("-R", place.results, "-n", "3", ...dataset));
      expect(same.code, same.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(3, 1));
      expect(calls(bench)).toBe(3);
    }),
  );
});

describe.concurrent("a folder alone is enough", () => {
  it(
    "of a run that was cut short while answers came in any order, with the last line torn",
    LONG,
    inPlace({ latency_ms: [10, 150], accuracy: 0.6 }, async (bench) => {
      const { place } = bench;
      await interruptedAfter(bench, 60, bench.reverse("-n", "60", "-r", "2", "-c", "8"));
      const before = bench.rows;
      expect(before.length).toBeGreaterThan(20);
      expect(keysOfRows(before), "in the order of the commits").not.toEqual(grid(60, 2).filter((key) => keysOfRows(before).includes(key)));
      rmSync(place.state, { recursive: true });
      appendFileSync(join(place.results, "results.jsonl"), readText(place.results, "results.jsonl").slice(0, 200));
      const id = basename(place.results);
      const asked = calls(bench);
      const { code, stderr } = await place.run(again("-R", place.results));
      expect(code, stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(60, 2));
      expectKept(before, bench.rows);
      expect(calls(bench) - asked).toBe(120 - before.length);
      expect(bench.metadata).toMatchObject({ edgewise: { run_id: id, status: "COMPLETED" } });
    }),
  );

  it(
    "of the Python library: rows in order of completion, without rollout_index, code and our key of the metadata",
    LONG,
    inPlace({ faults: [{ when: { nth: [5, 12] }, fault: { kind: "empty_content" } }] }, async (bench) => {
      const { place } = bench;
      await place.run(bench.reverse("-n", "10", "-r", "2", "-c", "1"));
      const foreign = bench.rows
        // Example 3 was not run, of example 6 only one rollout was.
        .filter(({ example_id, rollout_index }) => example_id !== 3 && !(example_id === 6 && rollout_index === 1))
        .map(({ rollout_index: _, error, ...row }) => ({ ...row, error: error === null ? null : { ...(error as object), code: undefined } }));
      const order = foreign.toSorted((a, b) => ((a.example_id * 7) % 10) - ((b.example_id * 7) % 10));
      writeFileSync(join(place.results, "results.jsonl"), order.map((row) => `${JSON.stringify(row)}\n`).join(""));
      const { edgewise: _, ...metadata } = bench.metadata;
      writeFileSync(
        join(place.results, "metadata.json"),
        JSON.stringify({ ...metadata, sampling_args: { n: 1, extra_body: {}, max_tokens: null }, version_info: { vf_version: "0.1.14" } }),
      );
      rmSync(join(place.results, ".edgewise.json"));
      rmSync(join(place.results, "eval.log"));
      rmSync(place.state, { recursive: true });

      const { code, stderr } = await place.run(again("-R", place.results));
      expect(code, stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(10, 2));
      expect(bench.rows.filter(({ error }) => error !== null)).toEqual([]);
      // Two missing, one missing, and two that ended in an infrastructure error.
      expect(calls(bench)).toBe(20 + 2 + 1 + 2);
      expect(bench.metadata).toMatchObject({ avg_reward: 1, edgewise: { status: "COMPLETED" } });
    }),
  );
});

describe.concurrent("-R without a path", () => {
  it(
    "takes the newest unfinished run of equal settings, and starts one where there is none, saying what came nearest",
    LONG,
    inPlace({ latency_ms: 50 }, async (bench) => {
      const { place } = bench;
      const ids = (): string[] => place.resultsFolders().map((folder) => basename(folder));
      const newest = (known: readonly string[]): string => ids().find((id) => !known.includes(id)) ?? "";
      const run = (model: string, ...more: readonly string[]): string[] => [
        "eval",
        "run",
        "reverse-text",
        "-m",
        model,
        "-b",
        bench.model.url,
        "-n",
        "40",
        "-c",
        "4",
        ...more,
      ];
      await interruptedAfter(bench, 10, run("a", "-r", "1"));
      const older = newest([]);
      await interruptedAfter(bench, 10, run("a", "-r", "1"));
      const newer = newest([older]);
      await interruptedAfter(bench, 10, run("b", "-r", "1"));
      const other = newest([older, newer]);
      const goesOn = async (id: string, model: string): Promise<void> => {
        const { code, stderr } = await place.run([...run(model, "-r", "1"), "-R"]);
        expect(stderr).toContain(`Run ${id} goes on`);
        expect(code).toBe(0);
      };
      const hotter = await place.run([...run("b", "-r", "1"), "-T", "1.5", "-R"]);
      expect(hotter).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(
          new RegExp(`^No unfinished run of these settings was found; this is a new one \\(the nearest is ${other}: sampling_args: the run has `),
        ),
      });
      await goesOn(newer, "a");
      await goesOn(older, "a");
      await goesOn(other, "b");
      const fresh = await place.run([...run("a", "-r", "1"), "-R"]);
      expect(fresh).toMatchObject({ code: 0, stderr: expect.stringContaining(`this is a new one (the nearest is ${older}: it is finished).`) });
      expect(ids()).toHaveLength(5);
      for (const folder of place.resultsFolders()) expect(keysOfRows(jsonRows(readFileSync(join(folder, "results.jsonl"), "utf8")))).toEqual(grid(40, 1));
    }),
  );
});

describe.concurrent("a state that is damaged", () => {
  it(
    "is named by its file, and --fresh-state goes on from the results folder; one that is removed under a run ends the command",
    LONG,
    inPlace({ latency_ms: 200 }, async (bench) => {
      const { place } = bench;
      await interruptedAfter(bench, 8, bench.reverse("-n", "40", "-r", "1", "-c", "2"));
      const before = bench.rows;
      const bucket = join(place.state, "v1", "r2", "miniflare-R2BucketObject");
      for (const name of readdirSync(bucket)) writeFileSync(join(bucket, name), "garbage");
      const refused = await place.run(again("-R", place.results));
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`the state is damaged: ${bucket}`) });
      const fresh = place.start(again("-R", place.results, "--fresh-state", "-c", "2"));
      const asked = calls(bench);
      await until(
        () => calls(bench) >= asked + 6,
        20_000,
        () => fresh.stderr(),
      );
      expect(fresh.stderr()).toContain(`The state was moved to ${place.state}/v1.`);
      // The service that works there makes files meanwhile.
      rmSync(place.state, { recursive: true, maxRetries: 10 });
      expect(await fresh.ended).toBe(1);
      expect(fresh.stderr()).toContain(`the state in ${place.state} was removed or replaced while this command worked with it`);
      const last = await place.run(again("-R", place.results, "-c", "32"));
      expect(last.code, last.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(40, 1));
      expectKept(before, bench.rows);
    }),
  );

  it(
    "in rows that are needed for the final file: the run ends by their name, the folder keeps what it has, and the line that is printed works",
    LONG,
    inPlace({ latency_ms: 50 }, async (bench) => {
      const { place } = bench;
      await interruptedAfter(bench, 12, bench.reverse("-n", "30", "-r", "1", "-c", "4"));
      const before = bench.rows;
      const blobs = join(place.state, "v1", "r2", "edgewise", "blobs");
      const segment = readdirSync(blobs).find((name) => readFileSync(join(blobs, name), "utf8").includes('"rollout_index"'));
      truncateSync(join(blobs, segment ?? "none"), 20);
      const ended = await place.run(again("-R", place.results));
      expect(ended.code).toBe(1);
      expect(ended.stderr).toMatch(/the state is damaged: run \w{8}: runs\/\w{8}\/segments\/\S+ is shorter in storage/);
      expectKept(before, bench.rows);
      expect(ended.stderr).toContain(`npx edgewise eval run reverse-text -R ${relative(place.folder, place.results)} --fresh-state`);
      const last = await place.run(again("-R", place.results, "--fresh-state"));
      expect(last.code, last.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(30, 1));
      expectKept(before, bench.rows);
    }),
  );
});
