/** How the push of a hosted run to the Hugging Face Hub is worded for people. */
import type { Failure } from "../errors/result.ts";
import { singleLine } from "./text/printable.ts";

/** How far it is. */
export interface HubPushState {
  /** `pushing`: it is owed, and tried until it is there or refused. */
  readonly status: "pushing" | "pushed" | "failed";
  /** `owner/name`; absent from Runs of before. */
  readonly dataset?: string;
  /** The data set is one that everybody sees. */
  readonly public?: true;
  /** The data set, once all of it is there. */
  readonly url?: string;
  /** Of the push; null = all of it was there already. */
  readonly commit?: string | null;
  /** Of the last attempt. */
  readonly failure?: Failure;
  /** When it is asked for again, where nobody says what came of it before; Unix milliseconds. */
  readonly retry_at?: number;
}

/** What pushes the run by hand, where the service could not; null where nothing needs to be. */
export function hubPushCommand(run: string, { status, dataset, public: everybody }: HubPushState): string | null {
  if (status !== "failed" || dataset === undefined) return null;
  return `npx edgewise push ${run} --to hf:${dataset}${everybody === true ? " --public" : ""}`;
}

/** Null where none is asked for; `time` words Unix milliseconds. */
export function hubPushText(run: string, push: HubPushState | undefined, time: (unixMs: number) => string): string | null {
  if (push === undefined) return null;
  const { status, dataset, url, commit, failure, retry_at } = push;
  if (status === "pushed") return `${url}${commit === undefined ? "" : commit === null ? "; all of it was there already" : `, commit ${commit.slice(0, 12)}`}`;
  const reason = failure === undefined ? null : singleLine(failure.message);
  if (status === "pushing") {
    const again = retry_at === undefined ? "" : `; tried again at ${time(retry_at)} at the latest`;
    return `waiting to be pushed to ${dataset ?? "the Hub"}${reason === null ? "" : `; the last attempt failed: ${reason}${again}`}`;
  }
  const command = hubPushCommand(run, push);
  const hint = failure?.hint === undefined ? "" : ` ${singleLine(failure.hint)}`;
  return `failed: ${reason ?? "nobody said why"}${hint}${command === null ? "" : ` Then type: ${command}`}`;
}
