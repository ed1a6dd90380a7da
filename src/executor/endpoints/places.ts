import { EndpointPause, type PauseClock } from "../../clients/endpoint-pause.ts";
import { RequestCosts } from "../../clients/limits/request-costs.ts";
import { TokenLimitName } from "../../clients/openai/token-limit-name.ts";
import { Outage } from "../../clients/outage.ts";
import { Storm } from "../../clients/storm.ts";
import { ScoringChoices } from "../../clients/scoring/choices.ts";
import type { Replica, RunConfig } from "../../config/plan/run-config.ts";
import { modelClass } from "../../endpoint-limits/model-class.ts";
import type { RunSecrets } from "../../secrets/run-secrets.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import { PlaceHealth } from "./replicas.ts";

/** What all runs of an executor share of a place: a pause asked for by one stops all of them. */
export interface Place {
  readonly pause: EndpointPause;
  readonly health: PlaceHealth;
  readonly limitName: TokenLimitName;
  readonly outage: Outage;
  readonly storm: Storm;
  readonly scoring: ScoringChoices;
  readonly costs: RequestCosts;
}

/** The places that an executor calls; what an endpoint limits, it limits for each class of its models apart. */
export class Places {
  readonly #clock: PauseClock;
  readonly #stormMs: number;
  readonly #known = new Map<string, Place>();

  /** `stormMs`: how long refusals for want of room cost a request no retry. */
  constructor(clock: PauseClock, stormMs: number) {
    this.#clock = clock;
    this.#stormMs = stormMs;
  }

  /** What is known of a place goes for one key of it: two teams may call different keys the same. */
  of({ base_url, api_key_var }: Pick<Replica, "base_url" | "api_key_var">, model: string, { team }: Pick<RunConfig, "team">, secrets: RunSecrets): Place {
    const owner = secrets.has(api_key_var) ? (team ?? DEFAULT_TEAM) : null;
    const key = JSON.stringify([base_url, api_key_var, owner, modelClass(base_url, model)]);
    const known = this.#known.get(key) ?? {
      pause: new EndpointPause(this.#clock),
      health: new PlaceHealth(this.#clock.now),
      limitName: new TokenLimitName(base_url),
      outage: new Outage(this.#clock.now),
      storm: new Storm(this.#clock.now, this.#stormMs),
      scoring: new ScoringChoices(this.#clock.now),
      costs: new RequestCosts(),
    };
    this.#known.set(key, known);
    return known;
  }
}
