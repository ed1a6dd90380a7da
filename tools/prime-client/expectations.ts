/** What a check is, and what it says of the client's answers. */
import assert from "node:assert/strict";
import type { PrimeClient, Said } from "./client.ts";

export interface Check {
  /** Name of its recording. */
  readonly name: string;
  /** What it needs is not made by the client: nothing of it is played again. */
  readonly unrecorded?: true;
  readonly run: (client: PrimeClient) => Promise<void>;
}

export function says({ code, text }: Said, wanted: number, ...parts: readonly (string | RegExp)[]): void {
  for (const part of parts) assert.ok(typeof part === "string" ? text.includes(part) : part.test(text), `${String(part)} is missing in:\n${text}`);
  assert.ok(!text.includes("Traceback"), text);
  assert.equal(code, wanted, text);
}

export const idsIn = ({ text }: Said): readonly string[] => [...text.matchAll(/Evaluation ID: ([0-9a-f]{8})/g)].map(([, id = ""]) => id);
