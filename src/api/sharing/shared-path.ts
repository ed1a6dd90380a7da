/** Where a run is read by its link: below it lie its page, `samples` and `files/…`. */
export const shownPath = (team: string, text: string, runId: string): string => `/shared/${team}/${text}/${runId}`;
