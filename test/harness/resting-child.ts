import { getHeapSpaceStatistics } from 'node:v8'
import { freeMemoryWhenIdle, keepHeapSmall } from '#platform/memory'

// A program that works and then idles. It prints the size of its young generation after the work, and the first size
// that is at most a quarter of it.

const youngMb = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size / 2 ** 20

keepHeapSmall()
let kept: object[] = []
for (let n = 0; n < 4_000_000; n += 1) {
  kept.push({ n })
  if (kept.length === 400_000) kept = []
}
kept = []
const worked = youngMb()
if (process.argv[2] !== 'without') freeMemoryWhenIdle()
setInterval(() => {
  const now = youngMb()
  if (now > worked / 4) return
  console.log(JSON.stringify({ worked, now }))
  process.exit(0)
}, 200)
