import type { BaselineControl, StoredBaseline } from "../../../durable-objects/registry/baselines/baseline-control.ts";
import { ok, type Result } from "../../../src/errors/result.ts";
import { FakeSecrets } from "./fake-secrets.ts";

/** Baselines of a team, in memory; whether their runs are there is the Registry's. */
export class FakeBaselines extends FakeSecrets implements BaselineControl {
  readonly baselines = new Map<string, StoredBaseline>();
  async baseline(name: string): Promise<StoredBaseline | null> {
    return this.baselines.get(name) ?? null;
  }
  async listBaselines(): Promise<readonly StoredBaseline[]> {
    return [...this.baselines.values()];
  }
  async putBaseline({ name, run_id, user }: { name: string; run_id: string; user: string }): Promise<Result<StoredBaseline>> {
    const baseline = { name, run_id, updated_at: 0, updated_by: user };
    this.baselines.set(name, baseline);
    return ok(baseline);
  }
  async deleteBaseline(name: string): Promise<boolean> {
    return this.baselines.delete(name);
  }
}
