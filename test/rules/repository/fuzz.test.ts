import { expect, it } from "vitest";
import { fuzz } from "../../fuzz/fuzz.ts";

it("cases from every source outside end in an answer or a refusal by name, within time and memory", async () => {
  for (let seed = 1; seed <= 600; seed++) expect(await fuzz(seed)).toBeNull();
}, 120_000);
