import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkDataset, datasetPath, describeDataset, uploadDataset } from "../../../../src/cli/datasets/dataset-upload.ts";
import { ServiceClient } from "../../../../src/cli/connection/http-client.ts";
import { wholeLinesOf } from "../../../../src/cli/results/row-file.ts";
import { sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "edgewise-data-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return join(root, name);
};
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe("the argument dataset", () => {
  it("is a file when it looks like a path or exists, and nothing of the sort otherwise", () => {
    file("rows", "");
    const where = (dataset: unknown): string | null => datasetPath({ dataset } as never, root);
    expect(where("./a.jsonl")).toBe(join(root, "a.jsonl"));
    expect(where("/data/a")).toBe("/data/a");
    expect(where("~/a.jsonl")).toBe(join(homedir(), "a.jsonl"));
    expect(where("rows")).toBe(join(root, "rows"));
    expect(where("missing/test.jsonl")).toBe(join(root, "missing/test.jsonl"));
    expect(where("https://example.org/a.jsonl")).toBeNull();
    expect(where(`sha256:${"0".repeat(64)}`)).toBeNull();
    expect(where("openai/gsm8k")).toBeNull();
    expect(where(7)).toBeNull();
    expect(datasetPath({}, root)).toBeNull();
  });

  it("is refused with its path when the file is missing, no file, or too large to send", () => {
    expect(() => checkDataset(join(root, "nowhere.jsonl"))).toThrow(/nowhere\.jsonl does not exist/);
    expect(() => checkDataset(root)).toThrow(/is not a file/);
    const large = file("large", "");
    truncateSync(large, 100_000_001);
    expect(() => checkDataset(large)).toThrow(/100000001 bytes; uploads take at most 100000000/);
  });

  it("is uploaded whole under its digest, and only when the service lacks it", async () => {
    const stored = new Map<string, string>();
    const service = await startFakeService(({ method, path, body, headers }, response) => {
      const digest = path.split("/").at(-1) ?? "";
      if (method === "HEAD") return void response.writeHead(stored.has(digest) ? 200 : 404).end();
      if (headers["content-length"] !== String(Buffer.byteLength(body))) return sendJson(response, 422, { detail: "no length", code: "invalid_request" });
      stored.set(digest, body);
      sendJson(response, 201, {});
    });
    try {
      const text = `${JSON.stringify({ question: "ä".repeat(100_000) })}\n`;
      const dataset = await describeDataset(file("rows.jsonl", text));
      expect(dataset).toMatchObject({ digest: sha256(text), bytes: Buffer.byteLength(text) });
      const client = new ServiceClient(service.url);
      await uploadDataset(client, dataset);
      await uploadDataset(client, dataset);
      expect(stored.get(sha256(text))).toBe(text);
      expect(service.asked.map(({ method }) => method)).toEqual(["HEAD", "PUT", "HEAD"]);
      await uploadDataset(client, await describeDataset(file("empty", "")));
      expect(stored.get(sha256(""))).toBe("");
    } finally {
      await service.close();
    }
  });

  it("fails with what the service said when it refuses the upload", async () => {
    const service = await startFakeService(({ method }, response) =>
      method === "HEAD" ? void response.writeHead(404).end() : sendJson(response, 422, { detail: "The digest is another.", code: "digest_mismatch" }),
    );
    try {
      await expect(uploadDataset(new ServiceClient(service.url), await describeDataset(file("a", "x".repeat(300_000))))).rejects.toThrow(
        "The digest is another.",
      );
    } finally {
      await service.close();
    }
  });
});

describe("whole lines of a file", () => {
  it("end before a line that a crash has cut", async () => {
    expect(await wholeLinesOf(file("a", ""))).toBe(0);
    expect(await wholeLinesOf(file("b", '{"a":1}\n{"b"'))).toBe(8);
    expect(await wholeLinesOf(file("c", '{"a":1}\n{"b":2}'))).toBe(15);
    expect(await wholeLinesOf(file("d", '{"a":1}\n'))).toBe(8);
    expect(await wholeLinesOf(file("e", '{"a'))).toBe(0);
    expect(await wholeLinesOf(file("g", '{"a":1}\n{"b"\n\n'))).toBe(8);
    expect(await wholeLinesOf(file("h", '{"a":1}\n{"reward": NaN}\n'))).toBe(24);
    expect(await wholeLinesOf(file("i", "\n \n"))).toBe(0);
    const long = `{"a":1}\n{"b":"${"x".repeat(200_000)}`;
    expect(await wholeLinesOf(file("f", long))).toBe(8);
    const described = await describeDataset(join(root, "b"), 8);
    expect(described).toEqual({ path: join(root, "b"), digest: sha256('{"a":1}\n'), bytes: 8 });
  });
});
