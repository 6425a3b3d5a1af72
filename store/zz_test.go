package store
import ("testing";"fmt";"time";"sync";"sync/atomic";"modernc.org/sqlite")
func TestZZ(t *testing.T){
 for _,g:=range []int{1,16,64} {
 s:=openIn(t,t.TempDir()); s.Counts()
 var b testing.B
 const N=6000
 turns:=parkable(&b,s,N)
 n:=0
 s.writer.conn.raw.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 { n++; return 0 })
 var next atomic.Int64; var wg sync.WaitGroup
 total:=N; if g==1 { total=1500 }
  at:=time.Now()
 for range g { wg.Go(func(){ for { i:=int(next.Add(1))-1; if i>=total {return}; if _,err:=s.WaitTurn(parking(turns[i],t0+Time(i)));err!=nil{t.Error(err)} } }) }
 wg.Wait(); d:=time.Since(at)
fmt.Println(g,"callers: per fact",d/time.Duration(total),"commits",n,"batch",float64(total)/float64(n),"per commit",d/time.Duration(n))
 }
}
