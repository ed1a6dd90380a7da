import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Bench, inPlace, keysOfRows } from "../../support/cli/in-place.ts";

/** A Python with `openenv-core`. */
const PYTHON = process.env.EDGEWISE_TEST_OPENENV ?? "";
if (PYTHON === "") console.log("skipped: EDGEWISE_TEST_OPENENV is not set (episodes on servers of openenv-core)");

const SAFE = join(import.meta.dirname, "../../support/openenv/safe");
const EPISODES = 50;

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Opens the safe by its hints: pulls, and turns the dial by one before it pulls again. */
function opener(asked: Asked[]): Server {
  return createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (text === "") return void response.end(JSON.stringify({ data: [{ id: "opener" }] }));
      const body = JSON.parse(text) as Asked;
      asked.push(body);
      const isFirst = body.messages.at(-1)?.role !== "tool";
      const call = (name: string, args: object, id: string) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } });
      const tool_calls = isFirst ? [call("pull", {}, "a")] : [call("turn", { steps: 1 }, "a"), call("pull", {}, "b")];
      const message = { role: "assistant", content: null, tool_calls };
      response.end(
        JSON.stringify({
          id: "x",
          object: "chat.completion",
          created: 1,
          model: "opener",
          choices: [{ index: 0, message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
        }),
      );
    });
  });
}

const run = (bench: Bench, folder: string, url: string, ...more: string[]) =>
  bench.place.run(["eval", "run", folder, "--python", PYTHON, "-m", "m", "-b", url, "-n", String(EPISODES), "-r", "1", ...more]);

/** Whether a server that a run started still answers, a moment after the run. */
async function answers(url: string): Promise<boolean> {
  for (let look = 0; look < 20; look++) {
    const there = await fetch(`${url}/health`).then(
      () => true,
      () => false,
    );
    if (!there) return false;
    await sleep(250);
  }
  return true;
}

const urlOf = (bench: Bench): string => String((bench.metadata.env_args as { readonly url?: unknown }).url);

describe.runIf(PYTHON !== "")("a project of OpenEnv, with servers of the real package", () => {
  it(
    "plays 50 episodes of the package's own echo, and goes on with a run of it",
    { timeout: 300_000 },
    inPlace({ answer: { text: "hello" } }, async (bench) => {
      const { folder } = bench.place;
      const program = join(dirname(PYTHON), "openenv");
      execFileSync(program, ["init", "echo_game"], {
        cwd: folder,
        env: { ...process.env, PATH: `${dirname(PYTHON)}${delimiter}${process.env.PATH}` },
        stdio: "ignore",
      });
      expect(existsSync(join(folder, "echo_game/openenv.yaml"))).toBe(true);
      const played = await run(bench, "./echo_game", bench.model.url, "-a", '{"max_turns": 3}');
      expect(played.code, played.stderr).toBe(0);
      expect(played.stderr).toContain("echo_game is an OpenEnv project (echo_game) and not walled in");
      expect(keysOfRows(bench.rows)).toHaveLength(EPISODES);
      // Its reward is a tenth of the length of what it is told; the answer of the last turn is told to nobody.
      for (const row of bench.rows) expect(row).toMatchObject({ error: null, reward: 1, num_turns: 3, stop_condition: "max_turns_reached" });
      expect(bench.rows[7]).toMatchObject({ info: { seed: 7 } });
      expect(JSON.stringify(bench.rows[0]?.completion)).toContain('{\\"echoed_message\\":\\"hello\\",\\"message_length\\":5}');
      expect(await answers(urlOf(bench))).toBe(false);
      const more = await run(bench, "./echo_game", bench.model.url, "-a", '{"max_turns": 3}', "-R", bench.place.results, "-n", String(EPISODES + 2));
      expect(more.code, more.stderr).toBe(0);
      expect(more.stderr).toContain("2 rollouts to do");
      expect(bench.rows).toHaveLength(EPISODES + 2);
    }),
  );

  it(
    "plays 50 episodes with the tools of one that has a state, several at once, each in a session of its own",
    { timeout: 300_000 },
    inPlace({}, async (bench) => {
      cpSync(SAFE, join(bench.place.folder, "safe"), { recursive: true });
      const asked: Asked[] = [];
      const model = opener(asked);
      await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
      try {
        const played = await run(bench, "./safe", `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`, "-c", "8");
        expect(played.code, played.stderr).toBe(0);
        expect(bench.rows).toHaveLength(EPISODES);
        for (const { info, reward, error, stop_condition, num_turns } of bench.rows) {
          const { seed } = info as { readonly seed: number };
          const steps = seed % 10;
          expect([seed, error, stop_condition, num_turns]).toEqual([seed, null, "mcp_no_tool_calls", steps + 1]);
          // A pull and a turn cost 0.01 each; the pull that opens it gives 1.
          expect(reward).toBeCloseTo(1 - 0.02 * steps, 9);
        }
        expect(
          asked
            .at(-1)
            ?.tools?.map((tool) => tool.function.name)
            .sort(),
        ).toEqual(["kick", "pull", "turn"]);
        expect(await answers(urlOf(bench))).toBe(false);
      } finally {
        model.close();
      }
    }),
  );

  it(
    "says what is missing: the application, the package, and that a url is given twice",
    { timeout: 120_000 },
    inPlace({}, async (bench) => {
      cpSync(SAFE, join(bench.place.folder, "safe"), { recursive: true });
      const twice = await run(bench, "./safe", bench.model.url, "-a", '{"url": "http://localhost:1"}');
      expect(twice).toMatchObject({ code: 2, stderr: expect.stringMatching(/argument url names a server that runs already/) });
      execFileSync(PYTHON, ["-m", "venv", "--without-pip", join(bench.place.folder, "empty")]);
      const lacking = await run(bench, "./safe", bench.model.url, "--python", "./empty");
      expect(lacking).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/safe needs openenv-core, which .*empty\/bin\/python\S* has not[\s\S]*install.* openenv-core/),
      });
      cpSync(join(SAFE, "openenv.yaml"), join(bench.place.folder, "bare/openenv.yaml"));
      const bare = await run(bench, "./bare", bench.model.url);
      expect(bare).toMatchObject({ code: 2, stderr: expect.stringMatching(/app is "server\.app:app", and .*server\/app\.py is not there/) });
    }),
  );
});
