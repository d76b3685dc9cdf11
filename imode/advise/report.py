"""Findings as plain English, one block for each."""


def text(findings, script):
    """Return the report on a script."""
    if not findings:
        return f"imode advise: {script}: nothing to say. Whatever was recorded, a backward used."
    many = "one finding" if len(findings) == 1 else f"{len(findings)} findings"
    return "\n\n".join([f"imode advise: {script}: {many}", *map(_block, findings)])


def _block(finding):
    end = "" if finding.first == finding.last else f"-{finding.last}"
    lines = [f"{finding.file}:{finding.first}{end}: {finding.says}"]
    amounts = [
        f"{finding.nodes} nodes" if finding.nodes else "",
        f"{finding.bytes} bytes saved" if finding.bytes else "",
        f"{finding.milliseconds} ms to record" if finding.milliseconds else "",
    ]
    if any(amounts):
        lines.append(f"  how much: {', '.join(filter(None, amounts))}")
    if finding.forbids:
        lines.append(f"  inference mode cannot be used: {finding.forbids}")
    return "\n".join([*lines, f"  what to do: {finding.do}"])
