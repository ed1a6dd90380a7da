import type { DeskAnswer, DeskRequest, Standing } from "../../../durable-objects/answers/answer-desk-control.ts";
import type { ExecutorPorts } from "../../../src/executor/ports.ts";

/** Desks as an executor knows them, in memory: for what it says to them, and when. Leases never end. */
export class MemoryDesks {
  readonly kept = new Set<string>();
  readonly claims = new Map<string, string>();
  /** What was said, word for word, with the desk that it was said to. */
  readonly said: { readonly desk: string; readonly request: DeskRequest }[] = [];
  /** In place of an answer. */
  instead: (() => Promise<DeskAnswer>) | null = null;

  readonly of: ExecutorPorts["answers"] = (team, digit) => ({
    ask: async (request) => {
      this.said.push({ desk: `${team}/${digit}`, request: structuredClone(request) });
      return this.instead === null ? { kind: "ok", standings: this.#decide(request), lease_ms: 45_000 } : await this.instead();
    },
  });

  #decide({ party, claims, wants, missing, done, dropped }: DeskRequest): Standing[] {
    for (const { digest } of done) {
      this.kept.add(digest);
      this.claims.delete(digest);
    }
    for (const digest of dropped) if (this.claims.get(digest) === party.executor) this.claims.delete(digest);
    for (const digest of missing) this.kept.delete(digest);
    return wants.map((digest) => {
      if (this.kept.has(digest)) return "kept";
      if (!claims) return "none";
      if (this.claims.has(digest)) return "wait";
      this.claims.set(digest, party.executor);
      return "yours";
    });
  }
}
