import type { Env } from "../../../src/env.ts";
import type { Result } from "../../../src/errors/result.ts";
import type { Link, SealedLink } from "../../../src/links/link.ts";
import { steadyNow } from "../../../src/steady-clock.ts";
import { SecretRegistry } from "../secrets/secret-registry.ts";
import type { LinkControl, NewLink } from "./link-control.ts";
import { LinkStore } from "./link-store.ts";

/** The part of a team's Registry that knows its links. Their tokens are values like those of its secrets. */
export abstract class LinkRegistry extends SecretRegistry implements LinkControl {
  readonly #links: LinkStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#links = new LinkStore(ctx.storage, this.secretTables);
  }

  async environmentLinks(name: string): Promise<readonly SealedLink[]> {
    return this.#links.find(name, steadyNow());
  }
  async listEnvironmentLinks(): Promise<readonly Link[]> {
    return this.#links.all(steadyNow());
  }
  async linkEnvironment(link: NewLink): Promise<Result<Link>> {
    return this.#links.put(link, steadyNow());
  }
  async renewEnvironmentLink(renewal: Parameters<LinkControl["renewEnvironmentLink"]>[0]): Promise<Link | null> {
    return this.#links.renew(renewal, steadyNow());
  }
  async unlinkEnvironment({ name, command }: Parameters<LinkControl["unlinkEnvironment"]>[0]): Promise<boolean> {
    return this.#links.remove(name, command, steadyNow());
  }
}
