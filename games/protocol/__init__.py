"""What the line protocols of engines share: UCI and those made after it, as servers; engines of any
protocol as players."""
