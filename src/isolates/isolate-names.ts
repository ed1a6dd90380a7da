import { canonicalJson } from "../config/canonical-json.ts";
import { sha256Hex } from "../config/sha256.ts";
import { IDLE_ISOLATES } from "../limits.ts";

/** All that code in an isolate can tell one from another by: what differs in any of it shares no globals. */
export interface IsolateIdentity {
  /** Whose run it is. */
  readonly team: string;
  /** sha256 of the environment's code, and of the library, in hex. */
  readonly code: string;
  readonly library: string;
  /** Hosts that it may reach. */
  readonly hosts: readonly string[];
  /** Values that it is given. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** One way only, so that a name tells nothing of the values. */
export const identityDigest = (identity: IsolateIdentity): Promise<string> => sha256Hex(canonicalJson(identity));

interface Known {
  /** The platform keeps what it loaded, and that it could not, by name for as long as it runs: what is to be loaded anew needs a new one. */
  generation: number;
  sessions: number;
  usedAt: number;
}

/** The isolates that this process has loaded, by names. Holds no stub: those belong to the request that made them. */
export class IsolateNames {
  readonly #known = new Map<string, Known>();
  #uses = 0;

  /** The name of the isolate with this digest, for one more session. */
  enter(digest: string): string {
    const known = this.#known.get(digest) ?? { generation: 0, sessions: 0, usedAt: 0 };
    this.#known.set(digest, known);
    known.sessions++;
    known.usedAt = ++this.#uses;
    return nameOf(digest, known);
  }

  /** A session with the isolate of that name is over. */
  leave(name: string): void {
    const known = this.#of(name);
    if (known !== null && known.sessions > 0) known.sessions--;
  }

  /** The isolate of that name is not used any more: it could not be loaded, is broken, or is to end. */
  retire(name: string): void {
    const known = this.#of(name);
    if (known === null) return;
    known.generation++;
    known.sessions = 0;
  }

  /** Names of isolates that nobody works in, the longest unused first, of which there are more than are kept. They are retired. */
  retireIdle(kept = IDLE_ISOLATES): readonly string[] {
    const idle = [...this.#known].filter(([, { sessions, usedAt }]) => sessions === 0 && usedAt > 0).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    return idle.slice(0, Math.max(0, idle.length - kept)).map(([digest, known]) => {
      const name = nameOf(digest, known);
      known.generation++;
      known.usedAt = 0;
      return name;
    });
  }

  /** What is known under that name; null when another generation is in use. */
  #of(name: string): Known | null {
    const digest = name.slice(0, name.lastIndexOf("."));
    const known = this.#known.get(digest);
    return known !== undefined && nameOf(digest, known) === name ? known : null;
  }
}

const nameOf = (digest: string, { generation }: Pick<Known, "generation">): string => `${digest}.${generation}`;
