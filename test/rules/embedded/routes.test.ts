import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { renderQuestion } from "../../../src/embedded-model/chat-template.ts";
import { argMax, logSoftmax } from "../../../src/embedded-model/sampling.ts";
import { type EmbeddedStage, embeddedStage } from "../../support/clients/embedded-app.ts";

/** The official SDK, unmodified, against the routes of the embedded model. */
let stage: EmbeddedStage;
beforeAll(async () => {
  stage = await embeddedStage();
});

const MODEL = "edgewise/tiny";
const QUESTION = "What is 3 + 4?";
const messages = [{ role: "user" as const, content: QUESTION }];

/** What the model does when it is asked directly: the most probable token, again and again. */
function greedy(prompt: string, count: number): string {
  const session = stage.model.session();
  let logits = session.prefill(stage.model.encode(prompt));
  let text = "";
  for (let i = 0; i < count; i++) {
    const id = argMax(logits);
    if (stage.model.vocabulary.text(id) === "") return text;
    text += stage.model.decode([id]);
    logits = session.step(id);
  }
  return text;
}

describe("chat completions", () => {
  it("have OpenAI's shape, and count the tokens of prompt and answer", async () => {
    const answer = await stage.openai.chat.completions.create({ model: MODEL, messages, temperature: 0, max_tokens: 4 });
    const content = greedy(renderQuestion(QUESTION), 4);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-\w{24}$/),
      object: "chat.completion",
      created: 1_700_000_000,
      model: MODEL,
      system_fingerprint: expect.stringMatching(/^fp_[0-9a-f]{10}$/),
      choices: [{ index: 0, message: { role: "assistant", content, refusal: null }, logprobs: null, finish_reason: expect.stringMatching(/^(stop|length)$/) }],
    });
    const [prompt_tokens, completion_tokens] = [renderQuestion(QUESTION).length, content.length];
    expect(answer.usage).toMatchObject({ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens });
  });

  it("have at least one token, also where the model would end at once; a completion may be empty", async () => {
    // No words follow an answer.
    const over: OpenAI.ChatCompletionMessageParam[] = [...messages, { role: "assistant", content: "7" }];
    const chat = await stage.openai.chat.completions.create({ model: MODEL, messages: over, temperature: 0 });
    expect(chat.usage?.completion_tokens).toBeGreaterThan(0);
    const completion = await stage.openai.completions.create({ model: MODEL, prompt: `${renderQuestion(QUESTION)}7`, temperature: 0 });
    expect(completion.choices[0]).toMatchObject({ text: "", finish_reason: "stop" });
  });

  it("read parts of a content like a text, and take both names of the token limit", async () => {
    const parts = [
      { type: "text" as const, text: "What is" },
      { type: "text" as const, text: "3 + 4?" },
    ];
    const [whole, split] = await Promise.all([
      stage.openai.chat.completions.create({ model: MODEL, messages, temperature: 0, max_tokens: 3 }),
      stage.openai.chat.completions.create({ model: MODEL, messages: [{ role: "user", content: parts }], temperature: 0, max_completion_tokens: 3 }),
    ]);
    expect(split.choices).toEqual(whole.choices);
    expect(split.usage).toEqual(whole.usage);
  });

  it("give log-probabilities of the model itself, whatever the temperature", async () => {
    const at = (temperature: number) =>
      stage.openai.chat.completions.create({ model: MODEL, messages, seed: 5, temperature, max_tokens: 1, logprobs: true, top_logprobs: 20 });
    const row = logSoftmax(stage.model.session().prefill(stage.model.encode(renderQuestion(QUESTION))));
    const ranked = [...row].sort((a, b) => b - a);
    for (const temperature of [0.5, 2]) {
      const { content } = (await at(temperature)).choices[0]?.logprobs ?? {};
      expect(content).toHaveLength(1);
      for (const { token, logprob, bytes, top_logprobs } of content ?? []) {
        expect(logprob).toBe(row[stage.model.encode(token)[0] ?? 0]);
        expect(bytes).toEqual([...new TextEncoder().encode(token)]);
        expect(top_logprobs.map((entry) => entry.logprob)).toEqual(ranked.slice(0, 20));
      }
    }
  });

  it("are the same for the same seed, and differ between seeds and between the choices of one request", async () => {
    const texts = async (seed: number): Promise<readonly string[]> => {
      // Far above what the model learned, so that it makes up many answers.
      const hard = [{ role: "user" as const, content: "multiply 9876 by 5432" }];
      const { choices } = await stage.openai.chat.completions.create({ model: MODEL, messages: hard, seed, temperature: 2, max_tokens: 12, n: 4 });
      expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
      return choices.map(({ message }) => message.content ?? "");
    };
    const first = await texts(1);
    expect(await texts(1)).toEqual(first);
    expect(await texts(2)).not.toEqual(first);
    expect(new Set(first).size).toBeGreaterThan(1);
  });

  it("stream in frames of one token that add up to the answer, with the usage last when it is asked for", async () => {
    const request = { model: MODEL, messages, seed: 3, temperature: 2, max_tokens: 6, n: 2, logprobs: true } as const;
    const whole = await stage.openai.chat.completions.create(request);
    const stream = await stage.openai.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    for (const [index, choice] of whole.choices.entries()) {
      const own = chunks.flatMap(({ choices }) => choices.filter((each) => each.index === index));
      expect(own[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
      expect(own.map(({ delta }) => delta.content ?? "").join("")).toBe(choice.message.content);
      expect(own.flatMap(({ logprobs }) => logprobs?.content ?? [])).toEqual(choice.logprobs?.content);
      expect(own.map(({ finish_reason }) => finish_reason)).toEqual([...own.slice(1).map(() => null), choice.finish_reason]);
      for (const { delta } of own) expect(delta.content?.length ?? 0).toBeLessThanOrEqual(1);
    }
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it("are wrapped in server-sent events that end with [DONE]", async () => {
    const response = await stage.post("/chat/completions", { model: MODEL, messages, max_tokens: 2, stream: true });
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const frames = (await response.text()).split("\n\n");
    expect(frames.at(-1)).toBe("");
    expect(frames.at(-2)).toBe("data: [DONE]");
    for (const frame of frames.slice(0, -2)) expect(JSON.parse(frame.replace(/^data: /, ""))).toMatchObject({ object: "chat.completion.chunk" });
  });
});

describe("completions", () => {
  it("have OpenAI's shape; without a limit they end after 16 tokens", async () => {
    const answer = await stage.openai.completions.create({ model: MODEL, prompt: "A", temperature: 2, seed: 4, stop: "§" });
    expect(answer).toMatchObject({ id: expect.stringMatching(/^cmpl-/), object: "text_completion", choices: [{ index: 0, logprobs: null }] });
    expect(answer.choices[0]?.text.length).toBeLessThanOrEqual(16);
    expect(answer.usage?.completion_tokens).toBe(answer.choices[0]?.text.length);
  });

  it("echo the prompt with its log-probabilities: their sum is the text's probability by the chain rule", async () => {
    const prompt = "Q: what is 12 + 30?\nA: 42";
    const answer = await stage.openai.completions.create({ model: MODEL, prompt, max_tokens: 0, echo: true, logprobs: 3 });
    const [choice] = answer.choices;
    const { tokens, token_logprobs, top_logprobs, text_offset } = choice?.logprobs ?? {};
    expect(choice).toMatchObject({ text: prompt, finish_reason: "length" });
    expect(tokens).toEqual([...prompt]);
    expect(text_offset).toEqual([...prompt].map((_, index) => index));
    expect([token_logprobs?.[0], top_logprobs?.[0]]).toEqual([null, null]);
    expect(answer.usage).toMatchObject({ prompt_tokens: prompt.length, completion_tokens: 0 });

    // Each text one token longer is asked for anew: nothing is shared with the reading that the route did.
    const ids = stage.model.encode(prompt);
    let chain = 1;
    for (let length = 1; length < ids.length; length++) {
      const logits = stage.model.session().prefill(ids.slice(0, length));
      const weights = Array.from(logits, Math.exp);
      chain *= (weights[ids[length] ?? 0] ?? 0) / weights.reduce((sum, weight) => sum + weight, 0);
    }
    const product = (token_logprobs ?? []).slice(1).reduce((value, logprob) => value * Math.exp(logprob), 1);
    expect(product / chain).toBeCloseTo(1, 9);
    for (const [index, best] of (top_logprobs ?? []).entries()) {
      if (index === 0) continue;
      expect(Object.keys(best).length).toBeGreaterThanOrEqual(3);
      expect(Object.keys(best).length).toBeLessThanOrEqual(4);
      expect(best[tokens?.[index] ?? ""]).toBe(token_logprobs?.[index]);
    }
  });

  it("go on from an echoed prompt, with log-probabilities for both", async () => {
    const request = { model: MODEL, prompt: "Q: 1", max_tokens: 5, temperature: 0, logprobs: 0, stop: "§" } as const;
    const [plain, echoed] = await Promise.all([stage.openai.completions.create(request), stage.openai.completions.create({ ...request, echo: true })]);
    const [own, both] = [plain.choices[0], echoed.choices[0]];
    expect(both?.text).toBe(`Q: 1${own?.text}`);
    expect(both?.logprobs?.tokens?.slice(4)).toEqual(own?.logprobs?.tokens);
    expect(both?.logprobs?.token_logprobs?.slice(4)).toEqual(own?.logprobs?.token_logprobs);
    // Offsets count from the beginning of the prompt, echoed or not.
    expect(both?.logprobs?.text_offset?.slice(4)).toEqual(own?.logprobs?.text_offset);
  });

  it("echo characters the model does not know as they are", async () => {
    const { choices, usage } = await stage.openai.completions.create({ model: MODEL, prompt: "Zoë 😀", max_tokens: 0, echo: true, logprobs: 1 });
    expect(choices[0]).toMatchObject({ text: "Zoë 😀", logprobs: { tokens: ["Z", "o", "ë", " ", "😀"], text_offset: [0, 1, 2, 3, 4] } });
    expect(usage?.prompt_tokens).toBe(5);
  });

  it("end before a stop sequence, which is counted and not shown", async () => {
    const free = await stage.openai.completions.create({ model: MODEL, prompt: "a", temperature: 2, seed: 9, max_tokens: 30 });
    const text = free.choices[0]?.text ?? "";
    const stop = text.slice(2, 4);
    expect(stop).toHaveLength(2);
    const cut = await stage.openai.completions.create({ model: MODEL, prompt: "a", temperature: 2, seed: 9, max_tokens: 30, stop, logprobs: 0 });
    const end = text.indexOf(stop);
    expect(cut.choices[0]).toMatchObject({ text: text.slice(0, end), finish_reason: "stop" });
    expect(cut.choices[0]?.logprobs?.tokens).toHaveLength(end);
    expect(cut.usage?.completion_tokens).toBe(end + 2);
  });

  it("answer several prompts, as texts or as token ids, each as if it were alone", async () => {
    const prompts = ["Q: 1", "Q: 22"];
    const request = { model: MODEL, temperature: 2, seed: 6, max_tokens: 4, n: 2 } as const;
    const together = await stage.openai.completions.create({ ...request, prompt: prompts });
    const ids = await stage.openai.completions.create({ ...request, prompt: prompts.map((prompt) => stage.model.encode(prompt)) });
    const alone = await Promise.all(prompts.map((prompt) => stage.openai.completions.create({ ...request, prompt })));
    const texts = alone.flatMap(({ choices }) => choices.map(({ text }) => text));
    expect(together.choices.map(({ index, text }) => [index, text])).toEqual(texts.map((text, index) => [index, text]));
    expect(ids.choices.map(({ text }) => text)).toEqual(texts);
    expect(together.usage?.prompt_tokens).toBe(9);
  });

  it("continue an empty prompt from the end of the text before", async () => {
    const { usage } = await stage.openai.completions.create({ model: MODEL, prompt: "", max_tokens: 3 });
    expect(usage?.prompt_tokens).toBe(1);
  });

  it("stream what they would give whole, offsets included", async () => {
    const request = { model: MODEL, prompt: "Q: 1", max_tokens: 5, temperature: 2, seed: 8, echo: true, logprobs: 1 } as const;
    const [choice] = (await stage.openai.completions.create(request)).choices;
    const parts: OpenAI.CompletionChoice[] = [];
    for await (const { choices } of await stage.openai.completions.create({ ...request, stream: true })) parts.push(...choices);
    expect(parts.map(({ text }) => text).join("")).toBe(choice?.text);
    expect(parts.flatMap(({ logprobs }) => logprobs?.text_offset ?? [])).toEqual(choice?.logprobs?.text_offset);
    expect(parts.flatMap(({ logprobs }) => logprobs?.token_logprobs ?? [])).toEqual(choice?.logprobs?.token_logprobs);
    expect(parts.at(-1)?.finish_reason).toBe(choice?.finish_reason);
  });
});

describe("the SDK's errors", () => {
  it("are of the class that the status has, with field and code", async () => {
    const bad = await stage.openai.chat.completions.create({ model: MODEL, messages, temperature: 9 }).catch((error: unknown) => error);
    expect(bad).toBeInstanceOf(OpenAI.BadRequestError);
    expect(bad).toMatchObject({ status: 400, param: "temperature", code: "decimal_above_max_value", type: "invalid_request_error" });
    const unknown = await stage.openai.models.retrieve("gpt-4").catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError);
    const broken = await stage.openai.completions.create({ model: MODEL, prompt: "a" }, { query: { error_rate: 1 } }).catch((error: unknown) => error);
    expect(broken).toBeInstanceOf(OpenAI.InternalServerError);
  });
});

describe("the list of models", () => {
  it("has the one, which can be looked up by its name", async () => {
    const { data } = await stage.openai.models.list();
    expect(data).toMatchObject([{ id: MODEL, object: "model", owned_by: "edgewise" }]);
    expect(await stage.openai.models.retrieve(MODEL)).toEqual(data[0]);
  });
});
