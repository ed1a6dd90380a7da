import type { LinkControl, NewLink } from "../../../durable-objects/registry/links/link-control.ts";
import { ok, type Result } from "../../../src/errors/result.ts";
import { isLive, type Link, type SealedLink } from "../../../src/links/link.ts";
import { FakePublished } from "./fake-published.ts";

/** The links of a team, in memory. */
export class FakeLinks extends FakePublished implements LinkControl {
  readonly linked = new Map<string, SealedLink>();

  async environmentLinks(name: string): Promise<readonly SealedLink[]> {
    return this.#live().filter((link) => link.name === name);
  }
  async listEnvironmentLinks(): Promise<readonly Link[]> {
    return this.#live().map(({ id: _, sealed: __, ...link }) => link);
  }
  async linkEnvironment({ key: _, lease_ms, ...link }: NewLink): Promise<Result<Link>> {
    const now = Date.now();
    const made: SealedLink = { ...link, linked_at: now, lease_until: lease_ms === null ? null : now + lease_ms };
    this.linked.set(`${link.name} ${link.command}`, made);
    return ok(made);
  }
  async renewEnvironmentLink({ name, command, lease_ms }: Parameters<LinkControl["renewEnvironmentLink"]>[0]): Promise<Link | null> {
    const link = this.#live().find((each) => each.name === name && each.command === command);
    if (link === undefined) return null;
    const renewed = { ...link, lease_until: Date.now() + lease_ms };
    this.linked.set(`${name} ${command}`, renewed);
    return renewed;
  }
  async unlinkEnvironment({ name, command }: Parameters<LinkControl["unlinkEnvironment"]>[0]): Promise<boolean> {
    return this.linked.delete(`${name} ${command}`);
  }

  #live(): SealedLink[] {
    return [...this.linked.values()].filter((link) => isLive(link, Date.now()));
  }
}
