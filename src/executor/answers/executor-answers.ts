import type { KnownAnswers } from "../../clients/known-answers.ts";
import type { Permits } from "../../clients/client.ts";
import { timerOf } from "../../clients/transport/timer.ts";
import type { RunCache } from "../../config/plan/run-config.ts";
import { type ANSWER_DESKS, DEFAULT_TEAM } from "../../teams/team-name.ts";
import type { RunNotes } from "../endpoints/notes.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import { teamPorts } from "../team-ports.ts";
import { AnswerObjects } from "./answer-objects.ts";
import { DeskLink } from "./desk-link.ts";
import { KnownByTeam } from "./known-by-team.ts";
import type { AskedPlace } from "./question.ts";

type Digit = (typeof ANSWER_DESKS)[number];
type Notes = Pick<RunNotes, "warning">;

/** What one executor has of the answers that teams keep. It makes nothing where no run asks for any. */
export class ExecutorAnswers {
  readonly #ports: ExecutorPorts;
  readonly #slice: Pick<Slice, "spend">;
  readonly #connections: Permits | null;
  readonly #links = new Map<string, DeskLink>();
  readonly #objects = new Map<string, AnswerObjects>();
  /** Runs that use them, with their teams: they are told of trouble. */
  readonly #told = new Map<Notes, string>();

  constructor(ports: ExecutorPorts, slice: Pick<Slice, "spend">, connections: Permits | null) {
    this.#ports = ports;
    this.#slice = slice;
    this.#connections = connections;
  }

  /** For one client of a run. Undefined where this service keeps none, which is noted; so is trouble, until the run is forgotten. */
  of(cache: RunCache, place: AskedPlace, notes: Notes): KnownAnswers | undefined {
    const team = place.team ?? DEFAULT_TEAM;
    if (this.#ports.answers(team, "0") === null) {
      notes.warning("cache none", "answers are not kept, and none of before are taken: this service has no desks for them (its wrangler.toml is of before)");
      return undefined;
    }
    this.#told.set(notes, team);
    const { now, sleep, random } = this.#ports;
    const claims = cache.mode === "read-write";
    const link = (digest: string): DeskLink => this.#link(team, digest.charAt(0) as Digit, claims);
    return new KnownByTeam({ now, sleep, random, link, objects: this.#objectsOf(team) }, cache, place);
  }

  forget(notes: Notes): void {
    this.#told.delete(notes);
  }

  /** Nothing is asked here any more: what is still claimed is others'. */
  leave(): void {
    for (const link of this.#links.values()) link.close();
  }

  #link(team: string, digit: Digit, claims: boolean): DeskLink {
    const name = `${team}/${digit} ${claims}`;
    const known = this.#links.get(name);
    if (known !== undefined) return known;
    const { id, boot, runtime, now, sleep } = this.#ports;
    const made = new DeskLink({
      party: { executor: id, boot, runtime },
      claims,
      desk: () => {
        this.#slice.spend();
        return this.#ports.answers(team, digit);
      },
      now,
      timer: timerOf(sleep),
      onTrouble: (message) => this.#trouble(team, `which answers are kept cannot be asked: ${message}`),
    });
    this.#links.set(name, made);
    return made;
  }

  #objectsOf(team: string): AnswerObjects {
    const known = this.#objects.get(team);
    if (known !== undefined) return known;
    const { now, sleep } = this.#ports;
    const made = new AnswerObjects({
      store: teamPorts(this.#ports, { team }).store,
      connections: this.#connections,
      spend: () => this.#slice.spend(),
      now,
      sleep,
      onTrouble: (message) => this.#trouble(team, message),
    });
    this.#objects.set(team, made);
    return made;
  }

  /** Said once in the log of each run, however often it happens. */
  #trouble(team: string, message: string): void {
    for (const [notes, own] of this.#told)
      if (own === team) notes.warning("cache silent", `${message}; meanwhile the model is asked, and what it says is not kept`);
  }
}
