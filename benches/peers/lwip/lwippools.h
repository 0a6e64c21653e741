/* What `mem_malloc` takes from: headers and small messages, and whole segments. */
LWIP_MALLOC_MEMPOOL_START
LWIP_MALLOC_MEMPOOL(1024, 256)
LWIP_MALLOC_MEMPOOL(4096, 1600)
LWIP_MALLOC_MEMPOOL_END
