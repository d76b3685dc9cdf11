"""What results call the library: "imode"; "torch" in a program in which imode stands in for it."""

name = "imode"
