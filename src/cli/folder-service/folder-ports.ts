import type { RegistryControl } from "../../../durable-objects/registry/registry-control.ts";
import type { AppPorts } from "../../api/app-ports.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import { VERSION } from "../../version.ts";
import { listed } from "./folder-list.ts";
import { folderProjection, isUncounted } from "./folder-projection.ts";
import { folderRun } from "./folder-run.ts";
import { folderStore } from "./folder-store.ts";
import type { FoundFolders } from "./found-folders.ts";
import { only } from "./refusing.ts";

interface FolderPorts {
  readonly folders: FoundFolders;
  /** Where they were looked for, as it is shown. */
  readonly shown: string;
  readonly assets: AppPorts["assets"];
  readonly now: () => number;
}

/** Milliseconds between two looks at a folder that grows. */
const POLL_MS = 500;

/** What the HTTP door stands on where it shows results folders: it reads them, and has nothing else. */
export function folderPorts({ folders, shown, assets, now }: FolderPorts): AppPorts {
  const none = () => null;
  const ports: AppPorts = only<AppPorts>({
    facts: {
      local: true,
      boot: "folders",
      token: null,
      commandSecret: null,
      version: VERSION,
      baseUrl: "",
      keyVar: "",
      keyVars: "",
      hub: null,
      stays: false,
      mails: false,
      pollMs: POLL_MS,
      hubWaitMs: 0,
      folders: shown,
    },
    team: DEFAULT_TEAM,
    inTeam: () => ports,
    directory: null,
    access: null,
    rate: null,
    keys: {},
    registry: only<RegistryControl>({
      list: async (query) => {
        const page = listed(
          folders.all.map((folder) => folderProjection(folder, now())),
          query,
        );
        folders.count(page.runs.flatMap(({ run_id }) => folders.of(run_id) ?? []).filter(isUncounted));
        return page;
      },
      listChanges: async () => folders.changes,
      has: async (id) => folders.of(id) !== null,
      standing: async () => ({ kept: false, removal_at: null }),
    }),
    store: folderStore((id) => folders.of(id), folders.held),
    run: (id) => folderRun(folders.of(id), now),
    schedules: null,
    monitors: null,
    alerts: null,
    evaluators: null,
    limiter: none,
    budget: none,
    answers: none,
    assets,
    embedded: null,
    findEnvironment: async () => null,
    offered: async () => null,
    envDigest: async () => null,
    environmentIds: [],
    now,
  });
  return ports;
}
