"""Reading what workers wrote: by offset, by time, all ranks as one; for whoever has the bytes."""
