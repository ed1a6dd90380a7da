import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { keysOf, metadataOf, until } from "../../support/cli/cli-process.ts";
import { type Bench, grid, inPlace } from "../../support/cli/in-place.ts";
import { hasTmux, TmuxTerminal } from "../../support/cli/tmux.ts";

const LONG = { timeout: 90_000 };
const UNCONFIRMED = 5;
const SCRIPT = { latency_ms: 5, usage: { prompt_tokens: 1000, completion_tokens: 100 } };

const calls = ({ model }: Bench): number => model.ledger.stats().total;
/** Every request is counted. */
const run = (bench: Bench, ...more: readonly string[]) => bench.place.run(bench.reverse("--no-preflight", ...more));
/** A dollar for a thousand calls of the scripted usage. */
const priced = ({ place }: Bench): void => {
  mkdirSync(join(place.folder, "configs"), { recursive: true });
  writeFileSync(
    join(place.folder, "configs/endpoints.toml"),
    '[[price]]\nmodel = "scripted"\ninput_usd_per_mtok = 0.5\noutput_usd_per_mtok = 5.0\n\n[[price]]\nmodel = "other"\ninput_usd_per_mtok = 0.5\noutput_usd_per_mtok = 5.0\n',
  );
};
const goOn = (stdout: string): string[] => /^Go on: npx edgewise (.*)$/m.exec(stdout)?.[1]?.split(" ") ?? [];

describe.concurrent("a run that is to say before what it will take", () => {
  it(
    "plays its first examples, says it, stops where nobody can be asked, and goes on by the command that it prints, every row once",
    LONG,
    inPlace(SCRIPT, async (bench) => {
      const { place } = bench;
      const first = await run(bench, "-n", "40", "-r", "2", "--estimate");
      expect(first.code, first.stderr).toBe(UNCONFIRMED);
      expect(first.stdout).toContain("--- Forecast ---\nfrom: the first 10 examples, 20 rollouts\nexamples: 40 × 2 rollouts, 32 at once\ncalls: 80\n");
      expect(first.stdout).toContain("tokens: 80,000 input, 8,000 output\ncost: unknown: the price of a model is not known");
      expect(first.stdout).not.toContain("--- Evaluation ---");
      expect(first.stderr).toContain("Nobody can be asked here, and nothing more is spent: --yes goes on without a question.");
      expect([calls(bench), keysOf(place.results)]).toEqual([20, grid(10, 2)]);
      const { run_id } = metadataOf(place.results).edgewise;
      const second = await place.run([...goOn(first.stdout), "--no-preflight"]);
      expect(second.code, second.stderr).toBe(0);
      expect([calls(bench), keysOf(place.results)]).toEqual([80, grid(40, 2)]);
      expect(metadataOf(place.results)).toMatchObject({ num_examples: 40, edgewise: { run_id, status: "COMPLETED" } });
    }),
  );

  it(
    "goes on at once with --yes, as the same run, and says what it cost",
    LONG,
    inPlace(SCRIPT, async (bench) => {
      priced(bench);
      const { code, stdout, stderr } = await run(bench, "-n", "30", "-r", "1", "--estimate", "5", "--yes");
      expect(code, stderr).toBe(0);
      expect(stdout).toContain("from: the first 5 examples, 5 rollouts");
      expect(stdout).toContain("cost: $0.0300, of which $0.0050 is spent");
      expect(stdout.indexOf("--- Forecast ---")).toBeLessThan(stdout.indexOf("--- Evaluation ---"));
      expect(stdout).toContain("reward: avg - 1.000");
      expect([calls(bench), keysOf(bench.place.results)]).toEqual([30, grid(30, 1)]);
      // Nothing would be left to agree to.
      const small = await run(bench, "-n", "4", "-r", "1", "--estimate", "-o", "small");
      expect([small.code, small.stdout.includes("--- Forecast ---"), calls(bench)]).toEqual([0, false, 34]);
    }),
  );

  it(
    "with --confirm-above stops above and not below, plays first examples where nothing is known, and none where finished runs say it",
    LONG,
    inPlace(SCRIPT, async (bench) => {
      priced(bench);
      const above = await run(bench, "-n", "40", "-r", "1", "--confirm-above", "0.02");
      expect([above.code, calls(bench)], above.stderr).toEqual([UNCONFIRMED, 10]);
      expect(above.stdout).toContain("from: the first 10 examples, 10 rollouts");
      const known = await run(bench, "-n", "40", "-r", "1", "--confirm-above", "0.02", "-o", "second");
      expect([known.code, calls(bench)], known.stderr).toEqual([UNCONFIRMED, 10]);
      expect(known.stdout).toMatch(/from: 10 examples, 10 rollouts of run [0-9a-f]{8}\n/);
      expect(known.stdout).toContain("Not begun. Run it: the same command with --yes");
      const below = await run(bench, "-n", "40", "-r", "1", "--confirm-above", "0.05", "-o", "second");
      expect([below.code, calls(bench)], below.stderr).toEqual([0, 50]);
      expect(below.stdout).toContain("cost: $0.0400\n");
      // What is not known is above every bound.
      writeFileSync(join(bench.place.folder, "configs/endpoints.toml"), "");
      const unknown = await run(bench, "-n", "40", "-r", "1", "--confirm-above", "1000", "-o", "third");
      expect([unknown.code, calls(bench)], unknown.stderr).toEqual([UNCONFIRMED, 50]);
    }),
  );

  it(
    "says that its budget ends it before its last example, after how many, and what to type, which is enough",
    LONG,
    inPlace(SCRIPT, async (bench) => {
      priced(bench);
      const stopped = await run(bench, "-n", "30", "-r", "1", "-t", "200", "--max-cost", "0.02", "--estimate", "5");
      expect([stopped.code, calls(bench)], stopped.stderr).toEqual([UNCONFIRMED, 5]);
      const told =
        /^budget: --max-cost 0\.02 is below that: the run ends at it, .* after about 20 of 30 examples; for all of them: (--max-cost [0-9.]+)$/m.exec(
          stopped.stdout,
        );
      expect(told, stopped.stdout).not.toBe(null);
      const all = await bench.place.run([...goOn(stopped.stdout), ...(told?.[1] ?? "").split(" "), "--no-preflight"]);
      expect([all.code, calls(bench)], all.stderr).toEqual([0, 30]);
    }),
  );

  it(
    "is refused by name where its first examples cannot be played first, or where no finished run says anything",
    LONG,
    inPlace(SCRIPT, async (bench) => {
      const shuffled = await run(bench, "-n", "40", "--shuffle", "--estimate");
      expect([shuffled.code, shuffled.stderr]).toEqual([
        2,
        expect.stringContaining("a run with --shuffle has its examples fixed before the first one is played"),
      ]);
      const ruled = await run(bench, "-n", "40", "--stop-when", "mean<0.2", "--confirm-above", "1");
      expect([ruled.code, ruled.stderr]).toEqual([2, expect.stringContaining("a run with --stop-when")]);
      const history = await run(bench, "-n", "40", "--estimate", "history");
      expect([history.code, history.stderr]).toEqual([2, expect.stringContaining("--estimate history: there are no finished runs with the same")]);
      const few = await run(bench, "-n", "40", "--estimate", "3");
      expect([few.code, few.stderr]).toEqual([2, expect.stringContaining("--estimate: must be at least 5")]);
      expect(calls(bench)).toBe(0);
    }),
  );

  it(
    "of several evaluations in a file has one table, one sum and one question, ablations among them",
    LONG,
    inPlace(SCRIPT, async (bench) => {
      priced(bench);
      const { place, model } = bench;
      const file = (top: string): void =>
        writeFileSync(
          join(place.folder, "evals.toml"),
          `${top}\napi_base_url = "${model.url}"\nnum_examples = 20\nrollouts_per_example = 1\n[[eval]]\nenv_id = "reverse-text"\nmodel = "other"\n[[ablation]]\nenv_id = "reverse-text"\nmodel = "scripted"\n[ablation.sweep]\ntemperature = [0.0, 1.0]\n`,
        );
      file("estimate = 5\nconfirm_above = 0.05");
      const stopped = await place.run(["eval", "run", "evals.toml", "--no-preflight"]);
      expect([stopped.code, calls(bench)], stopped.stderr).toEqual([UNCONFIRMED, 15]);
      expect(stopped.stdout.match(/--- Forecast ---/g)).toHaveLength(1);
      expect(stopped.stdout).toMatch(/^all of them .*\$0\.0150 +\$0\.0600 +\$0\.0600 to \$0\.0600/m);
      const commands = [...stopped.stdout.matchAll(/^Go on: npx edgewise (.*)$/gm)].map(([, command = ""]) => command.split(" "));
      expect(commands).toHaveLength(3);
      for (const command of commands) expect((await place.run([...command, "--no-preflight"])).code).toBe(0);
      expect([calls(bench), ...place.resultsFolders().map((folder) => keysOf(folder).length)]).toEqual([60, 20, 20, 20]);
      file("estimate = 5\nconfirm_above = 0.07\noutput_dir = 'again'");
      const went = await place.run(["eval", "run", "evals.toml", "--no-preflight"]);
      expect([went.code, calls(bench)], went.stderr).toEqual([0, 120]);
      expect(went.stdout).toContain("--- Evaluation Summary ---");
      writeFileSync(join(place.folder, "evals.toml"), '[[eval]]\nenv_id = "reverse-text"\nestimate = 5\n');
      const misplaced = await place.run(["eval", "run", "evals.toml"]);
      expect([misplaced.code, misplaced.stderr]).toEqual([2, expect.stringContaining("estimate holds for all evaluations of the file: set it at the top")]);
    }),
  );
});

const command = fileURLToPath(new URL("../../../bin/edgewise.js", import.meta.url));
const found = hasTmux();
if (!found) console.warn("estimate.test.ts asks nobody: it needs tmux (apt-get install tmux)");

describe.skipIf(!found)("at a terminal", () => {
  it.each([
    ["y", 0, 40],
    ["n", UNCONFIRMED, 10],
  ])("is asked, and with %s ends with %i and %i calls", LONG, async (key, code, asked) => {
    await inPlace(SCRIPT, async (bench) => {
      const { place } = bench;
      const env = { PATH: process.env.PATH ?? "", HOME: place.folder, LANG: "C.UTF-8", PRIME_API_KEY: "none" };
      const terminal = new TmuxTerminal({ columns: 120, rows: 40 }, place.folder, env);
      try {
        const args = bench.reverse("--no-preflight", "-n", "40", "-r", "1", "--estimate", "-d").join(" ");
        terminal.type(`'${process.execPath}' '${command}' ${args} ; echo "ended with $?"`);
        const shows = (text: string): Promise<void> =>
          until(
            () => terminal.history().includes(text),
            40_000,
            () => terminal.history(),
          );
        await shows("Go on? [y/N]");
        expect(calls(bench)).toBe(10);
        terminal.type(key);
        await shows(`ended with ${code}`);
        expect([calls(bench), keysOf(place.results)]).toEqual([asked, grid(asked, 1)]);
      } finally {
        terminal.close();
      }
    })();
  });
});
