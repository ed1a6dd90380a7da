/** `edgewise audit`: who did what in a team, oldest first; all of it, page by page. */
import type { AuditEntry } from "../../../durable-objects/registry/audit-control.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { askService } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";

/** An entry as the service writes it: times in ISO form. */
type Entry = Omit<AuditEntry, "time" | "ended_at"> & { readonly time: string };
interface Page {
  readonly data: readonly Entry[];
  readonly next: number;
  readonly more: boolean;
}

export interface AuditWish {
  readonly team?: string | undefined;
  /** Entries after this one. */
  readonly after: number;
  /** `json`: one object per line, as it is kept elsewhere. */
  readonly output: "table" | "json";
}

export async function showAudit(context: CommandContext, { team, after, output }: AuditWish): Promise<ExitCode> {
  const { terminal } = context;
  const filter = team === undefined ? "" : `&team_id=${encodeURIComponent(team)}`;
  await askService(
    context,
    "edgewise audit",
    async ({ client }) => {
      for (let from = after, more = true; more; ) {
        const page = await client.json<Page>("GET", `/audit?after=${from}${filter}`, { retries: 2 });
        for (const entry of page.data) terminal.print(output === "json" ? printableJson(entry) : lineOf(entry));
        more = page.more && page.next > from;
        from = page.next;
      }
    },
    true,
  );
  return EXIT.completed;
}

/** `2026-11-22 08:00:00Z  ada (token 0123456789ab) from 192.0.2.1: run.create 0000abcd, 200`. */
export function lineOf({ time, user, via, token, origin, action, target, status }: Entry): string {
  const known = token === null ? via : `${via} ${token}`;
  const end = status === null ? "no end known" : String(status);
  return singleLine(`${time.slice(0, 19).replace("T", " ")}Z  ${user} (${known}) from ${origin}: ${action}${target === null ? "" : ` ${target}`}, ${end}`);
}
