import { RUNS } from "../address/links.ts";
import { useDashboard } from "../context.ts";

/** For who works in several teams. Another team is another page: nothing of the one stays. */
export function TeamChoice() {
  const { viewer } = useDashboard();
  if (viewer.teams.length < 2) return null;
  return (
    <label class="quiet-choice">
      <span class="visually-hidden">Team</span>
      <select value={viewer.team} onChange={({ currentTarget }) => location.assign(`${RUNS}?team=${encodeURIComponent(currentTarget.value)}`)}>
        {viewer.teams.map((team) => (
          <option key={team} value={team}>
            {team}
          </option>
        ))}
      </select>
    </label>
  );
}
