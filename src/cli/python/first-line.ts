/** The one line that an environment's process prints when it serves, or cannot. */
import type { ChildProcess } from "node:child_process";
import { z } from "zod";

const MOST_CHARACTERS = 64 * 1024;

const startedSchema = z.object({ edgewise_env: z.literal(1), url: z.url(), environment: z.string(), pid: z.int() });
const failedSchema = z.object({
  edgewise_env: z.literal(1),
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().nullish() }),
});

export interface Started {
  readonly kind: "started";
  /** Base URL, without a slash at the end. */
  readonly url: string;
}
interface Failed {
  readonly kind: "failed";
  readonly message: string;
  readonly hint: string | null;
}
/** It ended, or said something else, or nothing in time. */
interface Silent {
  readonly kind: "silent";
  readonly how: string;
}
export type FirstLine = Started | Failed | Silent;

/** `gone`: resolves with how it ended. Whatever is printed later is read and forgotten. */
export async function firstLine(child: ChildProcess, gone: Promise<string>, patienceMs: number): Promise<FirstLine> {
  let timer: NodeJS.Timeout | undefined;
  const line = new Promise<FirstLine>((resolve) => {
    let text = "";
    let done = false;
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      if (done) return;
      text += chunk;
      const lines = text.split("\n");
      // A last line without an end is not whole.
      const read = lines.slice(0, -1).flatMap((each) => readLine(each) ?? [])[0];
      text = lines.at(-1) ?? "";
      if (read === undefined && text.length <= MOST_CHARACTERS) return;
      done = true;
      resolve(read ?? { kind: "silent", how: "it prints something else than where it serves" });
    });
    timer = setTimeout(() => resolve({ kind: "silent", how: `it did not serve within ${patienceMs / 1000} s` }), patienceMs);
    // Its line may come after its end.
    child.once("close", () => void gone.then((how) => resolve({ kind: "silent", how })));
    child.once("error", () => void gone.then((how) => resolve({ kind: "silent", how })));
  });
  try {
    return await line;
  } finally {
    clearTimeout(timer);
  }
}

/** Null for a line that is none of ours: modules print when they are imported. */
export function readLine(text: string): FirstLine | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const started = startedSchema.safeParse(value);
  if (started.success) return { kind: "started", url: started.data.url.replace(/\/+$/, "") };
  const failed = failedSchema.safeParse(value);
  return failed.success ? { kind: "failed", message: failed.data.error.message, hint: failed.data.error.hint ?? null } : null;
}

/** Why it does not serve, and what follows: its hint, or its last words. */
export function failureIn(line: Exclude<FirstLine, Started>, words: string): { readonly message: string; readonly hints: readonly string[] } {
  if (line.kind === "failed") return { message: line.message, hints: line.hint === null ? [] : [line.hint] };
  const lines = words === "" ? [] : words.split("\n");
  return { message: [line.how, ...lines.slice(-1)].join(": "), hints: lines.slice(-8, -1) };
}
