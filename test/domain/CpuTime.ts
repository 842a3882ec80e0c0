/** What this process has used of the processors, in milliseconds: whatever else the machine does is not counted. */
export const cpuTime = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}
