import type { NewAuditEntry } from "../../../durable-objects/registry/audit-control.ts";
import type { AppPorts } from "../app-ports.ts";
import { lacksMethod, logUnexpected } from "../errors.ts";
import { addressOf } from "./place.ts";

/**
 * One request in the audit of its teams. It is noted before anything is done, so that nothing is done without a note; what came of it follows. A note
 * without an end is of a service that ended in between.
 */
export class RequestAudit {
  readonly #entry: Omit<NewAuditEntry, "time">;
  readonly #noted: { readonly ports: AppPorts; readonly seq: number }[] = [];
  #made: string | null = null;

  constructor(request: Request, { user, via, token }: Pick<NewAuditEntry, "user" | "via" | "token">, action: string, local: boolean, target: string | null) {
    const origin = addressOf(request, local);
    this.#entry = { user, via, token, origin, action, target };
  }

  /** Notes it in the audit of this team, once. Throws when it cannot be noted: then it is not to be done. */
  async begin(ports: AppPorts): Promise<void> {
    if (this.#noted.some((noted) => noted.ports.team === ports.team)) return;
    try {
      this.#noted.push({ ports, seq: await ports.registry.noteAudit({ ...this.#entry, time: ports.now() }) });
    } catch (thrown) {
      // A Registry that the version before still runs notes nothing.
      if (!lacksMethod(thrown)) throw thrown;
      logUnexpected("audit", thrown);
    }
  }

  /** Says what was made, where the request could not name it. */
  made(...ids: readonly string[]): void {
    this.#made = ids.join(" ");
  }

  async end(status: number): Promise<void> {
    for (const { ports, seq } of this.#noted) {
      // It is done: that the answer is not noted does not undo it.
      await ports.registry.endAudit({ seq, status, time: ports.now(), target: this.#made }).catch((thrown: unknown) => logUnexpected("audit", thrown));
    }
  }
}
