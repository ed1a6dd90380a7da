import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { renderChat, renderQuestion } from "../../../src/embedded-model/chat-template.ts";
import { type EmbeddedModel, loadModel } from "../../../src/embedded-model/model.ts";
import { Vocabulary } from "../../../src/embedded-model/vocabulary.ts";
import { committedModel, committedWeights } from "../../support/clients/committed-model.ts";

/** Texts and the logits after each of their characters, computed by PyTorch from the same file in float64. */
const python = JSON.parse(readFileSync(new URL("../../fixtures/embedded-model-logits.json", import.meta.url), "utf8")) as {
  texts: string[];
  logits: number[][][];
};

let model: EmbeddedModel;
beforeAll(async () => {
  model = await committedModel();
});

describe("the logits", () => {
  it("are those of the training code, for every token of every text", () => {
    expect(python.texts.length).toBeGreaterThan(3);
    for (const [index, text] of python.texts.entries()) {
      const rows = model.session().prefillEvery(model.encode(text));
      expect(rows).toHaveLength(python.logits[index]?.length ?? 0);
      for (const [position, row] of rows.entries()) {
        for (const [token, logit] of row.entries()) expect(Math.abs(logit - (python.logits[index]?.[position]?.[token] ?? Number.NaN))).toBeLessThan(1e-8);
      }
    }
  });

  it("are the same to the bit, whether a text is read at once, in parts or token by token", () => {
    const ids = model.encode(`${renderQuestion("multiply 345 by 67")}23115`);
    const whole = model.session().prefillEvery(ids);
    const stepped = model.session();
    for (const [index, id] of ids.entries()) expect(stepped.step(id)).toEqual(whole[index]);
    for (const cut of [1, 3, 4, 17]) {
      const parts = model.session();
      expect(parts.prefill(ids.slice(0, cut))).toEqual(whole[cut - 1]);
      expect(parts.prefill(ids.slice(cut))).toEqual(whole.at(-1));
      expect(parts.length).toBe(ids.length);
    }
  });

  it("of a forked session are those of a session that read the same, and neither disturbs the other", () => {
    const ids = model.encode(renderQuestion("sort hgfa"));
    const session = model.session();
    session.prefill(ids);
    const forks = [session.fork(), session.fork()];
    const alone = ["a", "z"].map((letter) => model.session().prefill([...ids, ...model.encode(letter)]));
    expect(forks[0]?.step(model.encode("a")[0] ?? -1)).toEqual(alone[0]);
    expect(forks[1]?.step(model.encode("z")[0] ?? -1)).toEqual(alone[1]);
    expect(session.length).toBe(ids.length);
  });

  it("are not there for a text beyond the context, a token beyond the vocabulary, or no text", () => {
    const full = model.session();
    full.prefill(new Array(model.contextLength).fill(3));
    expect(() => full.step(3)).toThrow(`${model.contextLength + 1} tokens do not fit into the model's context of ${model.contextLength}`);
    expect(full.length).toBe(model.contextLength);
    expect(() => model.session().step(model.vocabulary.size)).toThrow(/there is no token/);
    expect(() => model.session().step(0.5)).toThrow(/there is no token/);
    expect(() => model.session().prefill([])).toThrow(/no tokens/);
  });
});

describe("the vocabulary", () => {
  it("takes every text: characters it does not have are one unknown token each", () => {
    const ids = model.encode("Q: é😀\n");
    expect(ids).toHaveLength(6);
    expect(ids.slice(3, 5)).toEqual([0, 0]);
    expect(model.decode(ids)).toBe("Q: \uFFFD\uFFFD\n");
    expect(model.decode([...model.encode("12"), 1])).toBe("12");
    expect(() => model.decode([model.vocabulary.size])).toThrow(/there is no token/);
  });

  it("has each character once", () => {
    const { tokens } = model.vocabulary;
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(tokens.slice(2).every((token) => Array.from(token).length === 1)).toBe(true);
    expect(new Vocabulary(["<unk>", "<eot>", "a"]).encode("ab")).toEqual([2, 0]);
  });
});

describe("the chat template", () => {
  it("is the last question, in lower case and single spaces", () => {
    expect(renderChat([{ role: "user", content: "What is\n 3 + 4? " }])).toBe("Q: what is 3 + 4?\nA: ");
    const chat = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "1 + 1" },
      { role: "assistant", content: "2" },
      { role: "user", content: "2 + 2" },
    ];
    expect(renderChat(chat)).toBe("Q: 2 + 2\nA: ");
    expect(renderChat([...chat, { role: "assistant", content: "4" }])).toBe("Q: 2 + 2\nA: 4");
    expect(renderChat([{ role: "system", content: "Be brief." }])).toBeNull();
  });
});

describe("the weights file", () => {
  const changed = (change: (bytes: Uint8Array<ArrayBuffer>, view: DataView) => Uint8Array<ArrayBuffer> | undefined): Promise<unknown> => {
    const bytes = committedWeights();
    return loadModel(change(bytes, new DataView(bytes.buffer)) ?? bytes);
  };
  /** The file with another header, its digest right. */
  const withHeader = (edit: (text: string) => string): Promise<unknown> =>
    changed((bytes, view) => {
      const end = 48 + view.getUint32(12, true);
      const header = new TextEncoder().encode(edit(new TextDecoder().decode(bytes.subarray(48, end))));
      const body = Buffer.concat([header, bytes.subarray(end)]);
      const prefix = bytes.slice(0, 48);
      new DataView(prefix.buffer).setUint32(12, header.length, true);
      prefix.set(createHash("sha256").update(body).digest(), 16);
      return new Uint8Array(Buffer.concat([prefix, body]));
    });

  it("is under 1 MB and says what the model is and where it comes from", () => {
    expect(committedWeights().length).toBeLessThan(1_000_000);
    const { name, training, tensors } = model.header;
    expect(name).toBe("edgewise/tiny");
    expect(training.command).toMatch(/^python tools\/embedded-model\/train\.py --seed \d+/);
    expect(training.examples).toBeGreaterThan(100_000);
    const parameters = tensors.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
    expect(parameters).toBeGreaterThan(100_000);
    expect(parameters).toBeLessThan(300_000);
    expect(model.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it("is refused when it is cut off, at any place, with what is missing", async () => {
    const { length } = committedWeights();
    await expect(changed((bytes) => bytes.slice(0, 20))).rejects.toThrow(/truncated: 20 bytes/);
    await expect(changed((bytes) => bytes.slice(0, 100))).rejects.toThrow(/truncated: 100 bytes, its header ends at/);
    await expect(changed((bytes) => bytes.slice(0, -2))).rejects.toThrow(`it is truncated: ${length - 2} bytes, its header describes ${length}`);
    await expect(changed((bytes) => new Uint8Array([...bytes, 0]))).rejects.toThrow(/goes on after its last tensor/);
  });

  it("is refused when a bit is wrong, wherever it is", async () => {
    const flip = (at: number) => (bytes: Uint8Array<ArrayBuffer>) => {
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes;
    };
    const { length } = committedWeights();
    for (const at of [16, 47, 4_000, length - 1])
      await expect(changed(flip(at)), String(at)).rejects.toThrow(/does not match its digest \(stated [0-9a-f]{64}, computed/);
    await expect(changed(flip(0))).rejects.toThrow(/does not begin with EDGEWISE/);
    await expect(changed(flip(48))).rejects.toThrow(/header is not JSON and its content does not match its digest/);
  });

  it("is refused for a version this code does not know", async () => {
    await expect(changed((_, view) => void view.setUint32(8, 2, true))).rejects.toThrow("it has format version 2, this code reads version 1");
  });

  it("is refused for a header that does not fit together, by the name of what is wrong", async () => {
    await expect(withHeader((text) => text.replace('"heads":4', '"heads":5'))).rejects.toThrow(/width 64 is not a multiple of two for each of its 5 heads/);
    await expect(withHeader((text) => text.replace('"layers":4', '"layers":5'))).rejects.toThrow(/matrix layers\.4\.qkv is missing/);
    await expect(withHeader((text) => text.replace('"hidden":256', '"hidden":128'))).rejects.toThrow(/matrix layers\.0\.up is 256 x 64, not 128 x 64/);
    await expect(withHeader((text) => text.replace('"width":64', '"width":"64"'))).rejects.toThrow(/header is wrong: shape\.width: /);
    await expect(withHeader(() => "{")).rejects.toThrow(/header is not JSON$/);
  });
});
