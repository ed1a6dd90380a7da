import fc from "fast-check";
import { expect, it } from "vitest";
import { depthOf } from "../../../src/config/json-depth.ts";

/** Character by character. */
function counted(text: string): number {
  let [depth, deepest, inText, escaped] = [0, 0, false, false];
  for (const character of text) {
    if (escaped) escaped = false;
    else if (inText && character === "\\") escaped = true;
    else if (character === '"') inText = !inText;
    else if (!inText && "{[".includes(character)) deepest = Math.max(deepest, ++depth);
    else if (!inText && "}]".includes(character)) depth--;
  }
  return deepest;
}

it("the depth of a text is that of its brackets outside of texts, whatever is escaped in them and wherever it ends", () => {
  const piece = fc.constantFrom('"', "\\", "{", "}", "[", "]", "a", '\\"', "\\\\", "🦘");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => void expect(depthOf(pieces.join(""))).toBe(counted(pieces.join("")))),
    { numRuns: 1_000 },
  );
  fc.assert(fc.property(fc.json({ maxDepth: 6 }), (text) => void expect(depthOf(text)).toBe(counted(text))));
});
