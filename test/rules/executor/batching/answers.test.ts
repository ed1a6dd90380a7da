import { describe, expect, it } from "vitest";
import { answersKey } from "../../../../r2-layout/keys.ts";
import { createClient } from "../../../../src/clients/create-client.ts";
import type { JsonObject } from "../../../../src/config/plan/run-config.ts";
import { inProcess } from "../../../../src/environments/hosted/in-process.ts";
import { MultiTurnEnv } from "../../../../src/environments/kinds/multi-turn-env.ts";
import { SingleTurnEnv } from "../../../../src/environments/kinds/single-turn-env.ts";
import { BATCH_PART_BYTES, MAX_ANSWER_BYTES } from "../../../../src/limits.ts";
import type { Client, Message } from "../../../../src/rollouts/types.ts";
import { Rubric } from "../../../../src/rubrics/rubric.ts";
import { answered, BatchedRun, completion, type WrittenLine } from "../../../support/batching/batched-run.ts";
import { VOICES, type Voice } from "../../../support/clients/client-voices.ts";
import { define } from "../../../support/walled/both.ts";
import { context } from "../../../support/walled/both.ts";
import { timeless } from "../../../support/walled/units.ts";
import { walled } from "../../../support/walled/walled.ts";

const said = ({ completion: given }: { readonly completion: readonly Message[] }): number => String(given.at(-1)?.content ?? "").length;
const environment = () => new SingleTurnEnv({ dataset: async function* () {}, rubric: new Rubric([{ name: "said", fn: said }]) });
const all = (hi: number) => [{ lo: 0, hi }];

const BATCHED = VOICES.filter(({ type }) => ["openai_chat_completions", "openai_completions", "openai_responses", "anthropic_messages"].includes(type));
const anywhere = { base_url: "https://models.test/v1", api_key: "sk-very-secret-1234" };

/** What its server says to each request, by its text. */
const direct = (voice: Voice, answer: () => { readonly status: number; readonly body: JsonObject }): Client =>
  createClient(voice.type, anywhere, { fetch: async () => Response.json(answer().body, { status: answer().status }), maxRequestRetries: 0 });

async function written(run: BatchedRun, units: number): Promise<{ readonly object: string; readonly lines: WrittenLine[] }> {
  const { object } = await run.write(all(units));
  if (object === null) throw new Error("something was to be asked");
  return { object, lines: run.written(object) };
}

describe("rollouts that are answered from a batch", () => {
  it.each(BATCHED)("have the rows of those that $type answered directly, but for their times", async (voice) => {
    const said = [
      [200, voice.whole({ text: "four" })],
      [200, voice.whole({ text: "fo", cut: true })],
      [400, voice.refusal(400, "no such option")],
      [404, voice.refusal(404, "no such model")],
    ] as const;
    for (const [status, body] of said) {
      const run = new BatchedRun(inProcess(environment()), 2, { api_client_type: voice.type });
      const { object, lines } = await written(run, 2);
      await run.collect(
        object,
        lines.toReversed().map((line) => answered(line, body, status)),
      );
      const rows = await run.rows(1, run.answers());
      expect(timeless(rows)).toEqual(
        timeless(
          await run.rows(
            1,
            direct(voice, () => ({ status, body })),
          ),
        ),
      );
      // What is refused for good ends the run, and its examples stay to be done.
      expect(rows).toHaveLength(status === 404 ? 0 : 2);
    }
  });

  it("are each given its own answer, wherever in the parts that is, behind a wall too", async () => {
    const run = new BatchedRun(await walled(define(environment), {}).offered.load({}, context), 40);
    const { object, lines } = await written(run, 40);
    const long = "x".repeat(300_000);
    await run.collect(
      object,
      lines.toReversed().map((line) => answered(line, completion(`${line.custom_id}${long}`))),
    );
    const parts = [...run.store.objects.keys()].filter((key) => key.includes(".answers-"));
    expect(parts.length).toBeGreaterThan(2);
    for (const key of parts) expect(run.store.objects.get(key)?.byteLength).toBeLessThanOrEqual(BATCH_PART_BYTES);
    const answers = run.answers();
    for (const unit of [0, 17, 39]) {
      const rows = await run.rows(unit, answers);
      expect(rows.map((row) => JSON.stringify(row.completion).slice(0, 80))).toEqual([
        expect.stringContaining(`u${unit}-r0-`),
        expect.stringContaining(`u${unit}-r1-`),
      ]);
    }
    expect(run.bytes.held).toBeGreaterThan(0);
    answers.close();
    expect(run.bytes.held).toBe(0);
  });

  it("say of what a batch has lost why, and are done again by a resume; what was lost is known by its kind", async () => {
    const run = new BatchedRun(inProcess(environment()), 3);
    const { object, lines } = await written(run, 3);
    const [one, two, three, four, five] = lines.map(({ custom_id }) => custom_id) as [string, string, string, string, string];
    const told = await run.collect(object, [
      { kind: "lost", custom_id: one, why: "expired", message: "not done within 24 h" },
      { kind: "answer", custom_id: two, status: 500, text: '{"error": "the server sk-very-secret-1234 is down"}' },
      { kind: "answer", custom_id: three, status: 429, text: "slow down" },
      { kind: "lost", custom_id: four, why: "cancelled", message: "cancelled" },
      { kind: "answer", custom_id: five, status: 1, text: "?" },
      { kind: "answer", custom_id: "0badcafe-u9-r9-0000000000000000", status: 200, text: "of nobody" },
      { kind: "answer", custom_id: "anything", status: 200, text: "of nobody" },
    ]);
    expect(told).toMatchObject({
      counts: { answered: 0, failed: 0 },
      lost: { expired: 1, "HTTP 500": 1, "HTTP 429": 1, cancelled: 1, error: 1, missing: 1 },
      ready: [],
      again: [{ lo: 0, hi: 3 }],
    });
    const rows = (await Promise.all([0, 1, 2].map((unit) => run.rows(unit, run.answers())))).flat();
    const why = ["expired): not done within 24 h", "HTTP 500): ", "HTTP 429): slow down", "cancelled)", "(error)", "(missing)"];
    for (const [at, row] of rows.entries()) expect(row.error).toMatchObject({ error: "ModelError", error_chain_repr: expect.stringContaining(why[at] ?? "") });
    expect([...run.store.objects.keys()].map((key) => run.store.text(key)).join()).not.toContain("sk-very-secret-1234");
  });

  it("take the answer of a later job where an earlier one has lost it", async () => {
    const run = new BatchedRun(inProcess(environment()), 1);
    const first = await written(run, 1);
    await run.collect(
      first.object,
      first.lines.slice(1).map((line) => answered(line, completion("early"))),
    );
    const second = await written(run, 1);
    expect(second.lines.map(({ custom_id }) => custom_id)).toEqual([first.lines[0]?.custom_id]);
    await run.collect(
      second.object,
      second.lines.map((line) => answered(line, completion("late"))),
    );
    const rows = await run.rows(0, run.answers());
    expect(rows.map(({ completion: given }) => (given as { content: string }[])[0]?.content)).toEqual(["late", "early"]);
  });

  it("have their one answer each time that they are played, and none to a second question", async () => {
    const env = new (class extends MultiTurnEnv {
      override envResponse(): Message[] {
        return [{ role: "user", content: "and then?" }];
      }
    })({ dataset: async function* () {}, rubric: new Rubric([{ name: "said", fn: said }]), maxTurns: 2 });
    const run = new BatchedRun(inProcess(env), 1, { rollouts_per_example: 1 });
    const { object, lines } = await written(run, 1);
    await run.collect(
      object,
      lines.map((line) => answered(line, completion("four"))),
    );
    const answers = run.answers();
    for (const [row] of [await run.rows(0, answers), await run.rows(0, answers)]) {
      expect(row?.error).toMatchObject({ error: "ModelError", error_chain_repr: expect.stringContaining("environments of one turn") });
      expect(JSON.stringify(row?.completion)).toContain('"four"');
    }
  });

  it("are told that an answer is too large as one that came directly is, and it is not kept", async () => {
    const run = new BatchedRun(inProcess(environment()), 1, { rollouts_per_example: 1 });
    const { object, lines } = await written(run, 1);
    const told = await run.collect(
      object,
      lines.map((line) => answered(line, completion("x".repeat(MAX_ANSWER_BYTES)))),
    );
    expect(told).toMatchObject({ counts: { answered: 1 }, ready: [{ lo: 0, hi: 1 }] });
    expect(run.store.objects.has(answersKey("0badcafe", told.index, 0))).toBe(false);
    const [row] = await run.rows(0, run.answers());
    expect(row?.error).toMatchObject({ error: "RowTooLargeError", error_chain_repr: expect.stringContaining("larger than") });
  });

  it("ask for no stream, whatever the run asks for", async () => {
    const run = new BatchedRun(inProcess(environment()), 1, {
      sampling_args: { extra_body: { stream: true, stream_options: { include_usage: true }, top_k: 1 } },
    });
    const { lines } = await written(run, 1);
    expect(lines[0]?.body).toMatchObject({ top_k: 1 });
    expect(Object.keys(lines[0]?.body ?? {})).not.toEqual(expect.arrayContaining(["stream"]));
  });
});
