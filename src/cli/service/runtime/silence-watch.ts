import { request } from "node:http";
import { CliError } from "../../terminal/cli-error.ts";
import type { RuntimeAddress } from "../front-door.ts";

const LOOK_MS = 500;
/** What one look counts for at most: a machine that slept, or this process itself, makes no silence of the runtime. */
const MOST_MS = 2 * LOOK_MS;

/** A reader of data sets or a reward function that takes as long as this without a pause is none that ends. */
const HANG_MS = 30_000;

/** How long the runtime may answer nobody: the variable `HANG_MS`, else half a minute. */
export function hangMsOf(env: NodeJS.ProcessEnv): number {
  const text = env.HANG_MS || String(HANG_MS);
  if (/^[1-9]\d{2,8}$/.test(text)) return Number(text);
  throw new CliError(`HANG_MS must be a whole number of milliseconds from 100 on, not ${JSON.stringify(text)}`, { exitCode: 2 });
}

export interface SilenceWatch {
  /** For how long it has answered nothing now, in milliseconds. */
  readonly silence: number;
  /** The runtime begins, or begins anew. */
  reset(): void;
  end(): void;
}

/** What is asked. */
export interface Question {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}
const HEALTH: Question = { path: "/health", headers: { host: "localhost" } };

/**
 * Asks the runtime whether it lives, and tells when it has answered nothing for `silentMs`, once until it is reset: code that runs in it does not give the processor back.
 * One that refuses or closes the connection has ended, or is being started, which others see.
 */
export function watchSilence(silentMs: number, address: () => RuntimeAddress, onSilent: () => void, question = HEALTH): SilenceWatch {
  let silence = 0;
  let told = false;
  let looked = performance.now();
  let asked: ReturnType<typeof request> | null = null;
  const heard = (): void => {
    asked = null;
    silence = 0;
  };
  const ask = (): void => {
    const mine = request({ ...address(), ...question, agent: false });
    asked = mine;
    mine.once("response", (answer) => {
      answer.resume();
      if (asked === mine) heard();
    });
    mine.once("error", () => {
      if (asked === mine) heard();
    });
    mine.end();
  };
  const timer = setInterval(() => {
    const now = performance.now();
    if (asked !== null) silence += Math.min(MOST_MS, now - looked);
    looked = now;
    if (asked === null) return ask();
    if (silence < silentMs || told) return;
    told = true;
    onSilent();
  }, LOOK_MS);
  timer.unref();
  return {
    get silence() {
      return silence;
    },
    reset: () => {
      asked?.destroy();
      heard();
      told = false;
    },
    end: () => {
      clearInterval(timer);
      asked?.destroy();
    },
  };
}
