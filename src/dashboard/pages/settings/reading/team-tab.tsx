import { thousands } from "../../../../report/text/format.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import { bytesText, LIMITS, TEAM_LIMITS, type TeamLimitName } from "../../../../teams/limits.ts";
import type { LimitAnswer, TeamList } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { Facts } from "../../../design/list/facts.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { localText } from "../../../design/times.ts";
import { useLook } from "../../../live/use-look.ts";
import { CREATE_TEAM } from "../commands.ts";
import { ReadList } from "./read-list.tsx";

/** What the team may use and does, and who belongs to it where the caller may see that. */
export function TeamTab() {
  const { viewer } = useDashboard();
  const look = useLook<LimitAnswer>(`/teams/${encodeURIComponent(viewer.team)}/limits`);
  return (
    <>
      <Part title={`What ${singleLine(viewer.team)} may use`}>
        <Looked look={look} what="this is as it was">
          {({ data: { limits, used } }) => (
            <Facts
              facts={TEAM_LIMITS.map((name) => [LIMITS[name].help, limitText(name, limits[name], name in used ? used[name as keyof typeof used] : null)])}
            />
          )}
        </Looked>
      </Part>
      <ReadList<TeamList["data"][number]>
        title="Teams and members"
        path="/teams"
        columns={[
          { name: "Team", cell: ({ team }) => singleLine(team) },
          {
            name: "Members",
            cell: ({ members }) =>
              members.map(({ user, email, scopes }) => (
                <div key={user}>
                  {singleLine(user)}
                  {email === null ? null : ` ${singleLine(email)}`}
                  <small>{scopes.join(", ")}</small>
                </div>
              )),
          },
          { name: "Created", cell: ({ created_at }) => localText(created_at) },
        ]}
        keyOf={({ team }) => team}
        none={
          <>
            There are no teams beside the owner's own. In a terminal: <code>{CREATE_TEAM}</code>
          </>
        }
      />
    </>
  );
}

/** `used`: null where nothing is counted. */
function limitText(name: TeamLimitName, limit: number | null, used: number | null): string {
  const text = (value: number): string => (LIMITS[name].kind === "bytes" ? bytesText(value) : thousands(value));
  const most = limit === null ? "no limit" : text(limit);
  return used === null ? most : `${text(used)} of ${most}`;
}
