import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
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

describe.skipIf(!isAsked)("a real model behind a completions route", () => {
  it.each(FILES)(
    "scores the sentences of %s as its token log-probabilities say, pair by pair",
    async (file) => {
      const script = join(import.meta.dirname, "../../../../tools/likelihood/direct_scores.py");
      const printed = execFileSync("python3", [script, URL, MODEL, file, String(PAIRS)], { encoding: "utf8", maxBuffer: 2 ** 26 });
      const direct = printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { good: Scored; bad: Scored });
      const pairs = readFileSync(file, "utf8")
        .split("\n", PAIRS)
        .map((line) => JSON.parse(line) as { sentence_good: string; sentence_bad: string });
      const client = createClient("openai_completions", { base_url: URL, api_key: "none" });
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
      const isRight = ({ good, bad }: { good: Scored; bad: Scored }, by: "sum" | "token"): boolean =>
        by === "sum" ? good.nll <= bad.nll : good.nll / good.tokens <= bad.nll / bad.tokens;
      expect(ours.map(({ good, bad }) => [good.tokens, bad.tokens])).toEqual(direct.map(({ good, bad }) => [good.tokens, bad.tokens]));
      for (const [at, { good, bad }] of ours.entries()) {
        expect(good.nll).toBeCloseTo(direct[at]?.good.nll ?? Number.NaN, 4);
        expect(bad.nll).toBeCloseTo(direct[at]?.bad.nll ?? Number.NaN, 4);
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
