import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient } from "../../../../src/clients/create-client.ts";
import { continuationTokens } from "../../../../src/clients/scoring/continuation.ts";
import { scoreTexts } from "../../../../src/clients/scoring/score-texts.ts";

/** A server with a real model, as `http://127.0.0.1:8089/v1 gemma-3-270m`, and files of BLiMP. */
const [URL = "", MODEL = ""] = (process.env.EDGEWISE_TEST_SCORING_SERVER ?? "").split(" ");
const FILES = (process.env.EDGEWISE_TEST_BLIMP ?? "").split(",").filter((file) => file !== "");
const PAIRS = Number(process.env.EDGEWISE_TEST_PAIRS ?? "200");
const isAsked = URL !== "" && MODEL !== "" && FILES.length > 0;
if (!isAsked) console.log("skipped: EDGEWISE_TEST_SCORING_SERVER and EDGEWISE_TEST_BLIMP are not set (scores of a real model beside a direct computation)");

interface Scored {
  readonly nll: number;
  readonly tokens: number;
}

/**
 * The server behind a door that gives the same text the same answer: llama.cpp goes on from what it has read before, so that its numbers depend in the third digit on
 * who asked last.
 */
async function recorded(): Promise<AsyncDisposable & { readonly url: string }> {
  const answers = new Map<string, { readonly status: number; readonly text: string }>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body = Buffer.concat(chunks).toString();
      const { prompt } = JSON.parse(body) as { prompt: unknown };
      const key = JSON.stringify(prompt);
      let answer = answers.get(key);
      if (answer === undefined) {
        const given = await fetch(`${URL}/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
        answer = { status: given.status, text: await given.text() };
        answers.set(key, answer);
      }
      response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe.skipIf(!isAsked)("a real model behind a completions route", () => {
  it.each(FILES)(
    "scores the sentences of %s as its token log-probabilities say, pair by pair",
    async (file) => {
      await using recorder = await recorded();
      const pairs = readFileSync(file, "utf8")
        .split("\n", PAIRS)
        .map((line) => JSON.parse(line) as { sentence_good: string; sentence_bad: string });
      const client = createClient("openai_completions", { base_url: recorder.url, api_key: "none" });
      const ours: { good: Scored; bad: Scored }[] = [];
      for (const { sentence_good, sentence_bad } of pairs) {
        const scores = await scoreTexts(client, { texts: [sentence_good, sentence_bad], model: MODEL, state: {}, signal: null });
        const [good, bad] = scores.map((score) => {
          const { nll, tokens } = continuationTokens(score, 0);
          return { nll, tokens: tokens.length };
        });
        if (good === undefined || bad === undefined) throw new Error("a pair has two scores");
        ours.push({ good, bad });
      }
      const script = join(import.meta.dirname, "../../../../tools/likelihood/direct_scores.py");
      const { stdout } = await promisify(execFile)("python3", [script, recorder.url, MODEL, file, String(PAIRS)], { encoding: "utf8", maxBuffer: 2 ** 26 });
      const direct = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { good: Scored; bad: Scored });
      const isRight = ({ good, bad }: { good: Scored; bad: Scored }, by: "sum" | "token"): boolean =>
        by === "sum" ? good.nll <= bad.nll : good.nll / good.tokens <= bad.nll / bad.tokens;
      expect(ours.map(({ good, bad }) => [good.tokens, bad.tokens])).toEqual(direct.map(({ good, bad }) => [good.tokens, bad.tokens]));
      for (const [at, { good, bad }] of ours.entries()) {
        expect(good.nll).toBeCloseTo(direct[at]?.good.nll ?? Number.NaN, 8);
        expect(bad.nll).toBeCloseTo(direct[at]?.bad.nll ?? Number.NaN, 8);
      }
      for (const by of ["token", "sum"] as const) {
        const [own, theirs] = [ours, direct].map((list) => list.map((pair) => isRight(pair, by)));
        expect(own).toEqual(theirs);
        console.log(`${basename(file)}: ${pairs.length} pairs, ${own?.filter(Boolean).length} right by ${by}`);
      }
    },
    3_600_000,
  );
});
