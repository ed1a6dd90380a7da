import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ScriptInput } from "./model-script.ts";

export const OPTIONS_HELP = `  --port N             0 (the default) takes a free one
  --latency-ms N|A-B   fixed, or drawn evenly
  --answer MODE        reverse (default), echo, wrong, or text:WHAT TO SAY
  --accuracy SHARE     share of requests answered so; the others get a wrong answer
  --script FILE        JSON script (test/support/model-server/model-script.ts); the other options are laid over it`;

export interface ServerOptions {
  readonly port: number;
  readonly script: ScriptInput;
}

/** Reads the command line of the two programs that start a scripted server. Throws an error for a person to read. */
export function readServerOptions(args: readonly string[]): ServerOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: "0" },
      "latency-ms": { type: "string" },
      answer: { type: "string" },
      accuracy: { type: "string" },
      script: { type: "string" },
    },
  });
  const base = values.script === undefined ? {} : (JSON.parse(readFileSync(values.script, "utf8")) as ScriptInput);
  return {
    port: numberOf("--port", values.port),
    script: {
      ...base,
      ...(values["latency-ms"] === undefined ? {} : { latency_ms: latencyOf(values["latency-ms"]) }),
      ...(values.answer === undefined ? {} : { answer: answerOf(values.answer) }),
      ...(values.accuracy === undefined ? {} : { accuracy: numberOf("--accuracy", values.accuracy) }),
    },
  };
}

function latencyOf(text: string): number | [number, number] {
  const [low = "", high] = text.split("-");
  return high === undefined ? numberOf("--latency-ms", low) : [numberOf("--latency-ms", low), numberOf("--latency-ms", high)];
}

function answerOf(text: string): ScriptInput["answer"] {
  if (text.startsWith("text:")) return { text: text.slice("text:".length) };
  if (text === "reverse" || text === "echo" || text === "wrong") return text;
  throw new TypeError(`--answer ${text}: there are reverse, echo, wrong and text:…`);
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value < 0) throw new TypeError(`${flag} ${text}: not a number`);
  return value;
}
