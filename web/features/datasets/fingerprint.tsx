/** The start of a fingerprint, which is enough to tell two apart; the whole fingerprint is shown on hover. */
export const Fingerprint = ({ sha256 }: { sha256: string }) => (
  <code title={sha256} className="font-mono text-xs text-ink-2">
    {sha256.slice(0, 12)}
  </code>
)
