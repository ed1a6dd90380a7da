import type { PublishedControl, PublishedEnvironment } from "../../../durable-objects/registry/published/published-control.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { FakeBaselines } from "./fake-baselines.ts";

/** What a team has published, as a test says: pushes are tested where storage is. */
export class FakePublished extends FakeBaselines implements PublishedControl {
  readonly published = new Map<string, PublishedEnvironment>();

  async publishedEnvironment(name: string): Promise<PublishedEnvironment | null> {
    return this.published.get(name) ?? null;
  }
  async listPublished(): Promise<readonly PublishedEnvironment[]> {
    return [...this.published.values()];
  }
  async mayPublish(): Promise<Result<null>> {
    return ok(null);
  }
  async beginPush(): Promise<Result<null>> {
    return ok(null);
  }
  async publish(): Promise<Result<PublishedEnvironment>> {
    return fail("storage_unavailable", "Nothing is stored here.");
  }
  async changeVisibility(): Promise<Result<PublishedEnvironment>> {
    return fail("storage_unavailable", "Nothing is stored here.");
  }
  async deletePublished(): Promise<Result<number>> {
    return fail("storage_unavailable", "Nothing is stored here.");
  }
  async codeToRemove(): Promise<readonly []> {
    return [];
  }
  async forgetCode(): Promise<void> {}
}
